// @ts-check
// What the whole page needs beyond Streamlit's own look: a focus that is seen, text with enough contrast, and room on
// low screens. Streamlit names its elements for tests, and these names have outlived its class names.

export const PAGE_STYLE = `
:is(a, button, summary, input, select, textarea, [tabindex]):focus-visible {
  outline: 3px solid var(--lab-focus, currentColor) !important; outline-offset: 2px !important; }
[data-testid=stMain]:focus-visible { outline-offset: -3px !important; }
[data-testid=stSlider] [data-focus-visible] { outline: 3px solid var(--lab-focus, currentColor); outline-offset: 4px; }
/* By Streamlit it is 0.6, which leaves 4.2 to 1 on white. */
[data-testid=stCaptionContainer] { opacity: 0.8 !important; }
/* By Streamlit it is white, on a dark theme's light blue 2.3 to 1. */
[data-testid^=stBaseButton-primary]:enabled, [data-testid=stMultiSelect] [data-tag] {
  color: var(--lab-background, #fff) !important; }
[data-testid=stMultiSelect] [data-tag] :is(span, button) { color: inherit !important; }
/* Buttons that only a pointer over the chart would show. */
.modebar-container:focus-within .modebar--hover { opacity: 1 !important; }
.modebar-container .modebar-btn:focus-visible { outline-offset: -1px !important; }
.lab-curves { display: flex; flex-wrap: wrap; gap: 0.4rem; padding: 4px; }
.lab-curves:not(:focus-within), .lab-cell-told { position: absolute; width: 1px; height: 1px; overflow: hidden;
  padding: 0; clip-path: inset(50%); white-space: nowrap; }
.lab-curves button { font: inherit; font-size: 0.82rem; border: 1px solid #808890; border-radius: 0.35rem; padding: 0.1rem 0.6rem;
  background: var(--lab-background, #fff); color: var(--lab-text, #000); margin: 0; }
.lab-curves button[aria-pressed=false] { text-decoration: line-through; }
/* A low screen, as a laptop's at 200%: a row of controls stays one row, which moves sideways, and its chart follows. */
@media (max-height: 480px) {
  [data-testid=stHeader] { height: 2.5rem; min-height: 2.5rem; }
  [data-testid=stMainBlockContainer] { padding-top: 2.75rem !important; }
  [data-testid=stMain] h1 { font-size: 1.4rem; padding: 0; }
  [data-testid=stHorizontalBlock]:has(> [data-testid=stColumn] :is([data-testid=stSlider], [role=radiogroup], [role=combobox])):not(
    :has(.lab-chart, .lab-plot, [data-testid=stExpander])) {
    flex-wrap: nowrap; overflow-x: auto; padding: 4px 4px 0.4rem; gap: 1rem;
    & > [data-testid=stColumn] { min-width: 10rem !important; }
    & > [data-testid=stColumn]:has([data-testid=stCaptionContainer]) { min-width: 18rem !important; }
    & [data-testid=stCaptionContainer] { font-size: 0.75rem; line-height: 1.3; }
    & [data-testid=stVerticalBlock] { gap: 0.25rem; }
  }
}
/* Our own parts alone: a list of Streamlit's that opens at once takes the click that opened it for a choice. */
@media (prefers-reduced-motion: reduce) {
  [class*=lab-], [class*=lab-] * { animation-duration: 0.01ms !important; animation-iteration-count: 1 !important;
    transition-duration: 0.01ms !important; scroll-behavior: auto !important; }
}
`
