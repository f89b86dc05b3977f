// @ts-check
// Where on a page one stands. Streamlit shows every page from its top: Back finds it where it was left, and a link to a
// part of a page shows that part.

const SETTLED = 700 // milliseconds in which a page comes to no more height
const MOST = 15000 // a page of a busy server takes its time
const OWN_HAND = ["wheel", "touchstart", "keydown", "pointerdown"] // whoever moves the page is not moved

const view = () => document.querySelector("[data-testid=stMain]")

export const placeOf = () => Math.round(view()?.scrollTop ?? 0)

let going = () => {} // ends what is under way

/**
 * Goes to a place as soon as the page is long enough for it, and stays until the page has settled.
 * @param {() => number | undefined} place in the page; undefined while it is not there
 */
export function goTo(place) {
  going()
  const began = performance.now()
  let since = began
  let last = NaN
  let over = false
  const end = () => {
    over = true
    for (const kind of OWN_HAND) removeEventListener(kind, end, true)
  }
  going = end
  for (const kind of OWN_HAND) addEventListener(kind, end, true)
  const step = () => {
    if (over) return
    const main = view()
    const wanted = main && place()
    const now = performance.now()
    if (main && wanted !== undefined && wanted !== null) {
      const reached = Math.min(wanted, main.scrollHeight - main.clientHeight)
      if (Math.abs(main.scrollTop - reached) > 1) main.scrollTop = reached
      if (reached !== last || reached < wanted) since = now
      last = reached
    } else since = now
    if (now - since > SETTLED || now - began > MOST) end()
    else requestAnimationFrame(step)
  }
  requestAnimationFrame(step)
}

const HEADER = 70 // pixels of the menu, which lies over the page

/** @param {string} key of a container or door of Streamlit's */
export function goToPart(key) {
  goTo(() => {
    const main = view()
    const part = document.querySelector(`.st-key-${CSS.escape(key)}`)
    if (!main || !part) return undefined
    return Math.max(0, main.scrollTop + part.getBoundingClientRect().top - main.getBoundingClientRect().top - HEADER)
  })
}
