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

/** What may be wider than a telephone, and is moved sideways there: by keyboard, too, while it is. */
const WIDE = { ".lab-table": "Table, moves sideways", ".katex-display": "Formula, moves sideways" }
const resized = new ResizeObserver(() => {
  for (const [selector, name] of Object.entries(WIDE))
    for (const node of document.querySelectorAll(selector)) {
      const wide = node.scrollWidth > node.clientWidth
      if (wide === node.hasAttribute("tabindex")) continue
      for (const [key, value] of Object.entries({ tabindex: "0", role: "group", "aria-label": name }))
        if (wide) node.setAttribute(key, value)
        else node.removeAttribute(key)
    }
})

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
  const content = document.querySelector("[data-testid=stMainBlockContainer]")
  if (content) resized.observe(content) // it also tells of the size that it has now
  if (document.getElementById(STYLE)) return
  document.head.append(element("style", { id: STYLE, textContent: PAGE_STYLE }))
  document.addEventListener("keydown", chooseByArrow, true) // a group keeps its keys to itself
  document.addEventListener("click", closeMenu)
}

/**
 * On a telephone the menu lies over the page: it is done when a page was chosen. Streamlit leaves it open.
 * @param {MouseEvent} event
 */
function closeMenu({ target }) {
  const chosen = target instanceof Element && target.closest("[data-testid=stSidebarNavLink]")
  const close = document.querySelector("[data-testid=stSidebarCollapseButton] button")
  if (chosen && close instanceof HTMLElement) setTimeout(() => close.click())
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
    if (there instanceof HTMLElement && group.contains(there) && there.getAttribute("aria-checked") === "false")
      there.click()
  })
}
