// @ts-check
// What Streamlit leaves to do for those who use a page by keyboard, or with other eyes: see docs/ACCESSIBILITY.md.
import { element } from "./live_elements.js"
import { PAGE_STYLE } from "./page_style.js"

const STYLE = "lab-page-style"
const COLOURS = {
  "--lab-focus": "--st-primary-color",
  "--lab-text": "--st-text-color",
  "--lab-background": "--st-background-color",
}

/**
 * Once a page, and again for another theme: Streamlit tells its colours inside components alone.
 * @param {Element} inside a component
 */
export function readable(inside) {
  const look = getComputedStyle(inside)
  for (const [name, own] of Object.entries(COLOURS)) {
    const value = look.getPropertyValue(own)
    if (value) document.documentElement.style.setProperty(name, value)
  }
  if (document.getElementById(STYLE)) return
  document.head.append(element("style", { id: STYLE, textContent: PAGE_STYLE }))
  document.addEventListener("keydown", chooseByArrow)
}

/**
 * In a group of which one is chosen an arrow key chooses; Streamlit's only moves the focus.
 * @param {KeyboardEvent} event
 */
function chooseByArrow({ key, target }) {
  const group = target instanceof Element && target.closest("[data-rac][role=radiogroup]")
  if (!group || !/^Arrow/.test(key)) return
  setTimeout(() => {
    const there = document.activeElement
    if (there instanceof HTMLElement && group.contains(there) && there.ariaChecked === "false") there.click()
  })
}
