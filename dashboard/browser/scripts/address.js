// @ts-check
// One change of page is one entry in the browser's history, and that entry keeps what was set on the page.
//
// Streamlit adds an entry whenever the server changes the address's settings, and before it leaves a page it takes that
// page's settings out of the address: three entries for one click, and Back finds a page without its settings. So here
// a change of settings alone replaces the entry, and a page that is left gets back the address that was clicked on.
//
// A run that was under way when the browser goes back ends there, and Streamlit would add an entry for its page, as if
// somebody had gone there: what nobody clicked on or pressed a key for since then is no change of page.
//
// After a reload the server knows nothing of the pages that were left before it; this tab does, and tells it.
//
// An entry keeps where on its page one stood, too.

import { readable } from "./page_access.js"
import { goTo, goToPart, placeOf } from "./page_place.js"
import { readData } from "./plot_parts.js"

/** @import { Component } from "./types.d.ts" */

const LEFT = "radam-lab-left" // in the tab's storage: page -> its settings when it was left

/** @param {string} url */
const pageOf = (url) => new URL(url).pathname.replace(/.*\//, "")

/** @param {string} url */
function leave(url) {
  const left = { ...JSON.parse(sessionStorage.getItem(LEFT) ?? "{}"), [pageOf(url)]: new URL(url).search }
  sessionStorage.setItem(LEFT, JSON.stringify(left))
}

if (!window.radamLabHistory) {
  window.radamLabHistory = { told: false, back: "" }
  const push = history.pushState.bind(history)
  let clicked = location.href
  let stood = 0
  let wanted = true
  const note = () => {
    clicked = location.href
    stood = placeOf()
  }
  addEventListener("click", note, true) // a key on a link is a click, too
  for (const kind of ["click", "keydown"]) addEventListener(kind, () => (wanted = true), true)
  addEventListener(
    "popstate",
    ({ state }) => {
      wanted = false
      known.back = location.href
      if (state?.radamLabPlace) goTo(() => state.radamLabPlace)
    },
    true,
  )
  history.pushState = (state, title, url) => {
    const here = location.pathname
    if (new URL(url ?? "", location.href).pathname === here) return history.replaceState(state, title, url)
    if (!wanted) return
    if (new URL(clicked).pathname === here) {
      history.replaceState({ ...history.state, radamLabPlace: stood }, title, clicked)
      leave(clicked)
    }
    return push(state, title, url)
  }
}

const known = window.radamLabHistory

/** @param {Component} component */
export default function ({ data, parentElement, setTriggerValue }) {
  readable(/** @type {Element} */ (parentElement.querySelector("span")))
  const left = sessionStorage.getItem(LEFT)
  if (left && !known.told) setTriggerValue("left", JSON.parse(left))
  known.told = true
  const { part } = readData(data)
  if (part && known.back !== location.href) goToPart(part)
  known.back = ""
}
