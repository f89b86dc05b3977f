// @ts-check
// A component that outlives Streamlit's reruns: made once for its element, told of every rerun, closed when it is left.
import { isDark, readData } from "./plot_parts.js"

/** @import { Component, Theme } from "./types.d.ts" */

/**
 * What Streamlit calls with each rerun.
 * @template Message
 * @param {string} selector of the component's element
 * @param {(root: HTMLElement, component: Component) => { component: Component, update: (message: Message, theme: Theme) => void, close: () => void }} make
 */
export function keptPage(selector, make) {
  /** @type {WeakMap<HTMLElement, ReturnType<typeof make>>} */
  const pages = new WeakMap()
  return (/** @type {Component} */ component) => {
    const { parentElement } = component
    const root = /** @type {HTMLElement} */ (parentElement.querySelector(selector))
    const page = pages.get(root) ?? make(root, component)
    pages.set(root, page)
    page.component = component
    page.update(readData(component.data), isDark(parentElement) ? "dark" : "light")
    return () => {
      if (page.component !== component) return // a rerun came before this call was over, and Streamlit ends it late
      pages.delete(root)
      page.close()
    }
  }
}
