// @ts-check
// How the export panel looks. It lies above the page, where no component's own style reaches.

export const PANEL_STYLE = `
dialog.lab-figure { width: min(1120px, 96vw); max-height: 94vh; overflow: auto; padding: 1rem 1.25rem; border: 1px solid #80889080;
  border-radius: 8px; background: var(--st-background-color, #fff); color: var(--st-text-color, #1b2430); font-size: 14px;
  font-family: "Source Sans", sans-serif; }
dialog.lab-figure::backdrop { background: #0008; }
.lab-figure h2 { margin: 0 0 .6rem; font-size: 1.25rem; padding: 0; }
.lab-figure-parts { display: grid; grid-template-columns: 250px 1fr; gap: 1.25rem; }
.lab-figure-controls { display: flex; flex-direction: column; gap: .45rem; min-width: 0; }
.lab-figure-controls label { display: flex; align-items: center; gap: .4rem; }
.lab-figure-controls label[hidden] { display: none; }
.lab-figure-controls select, .lab-figure-controls input[type=text] { flex: 1; min-width: 0; font: inherit; color: inherit;
  background: var(--st-secondary-background-color, #f3f5f7); border: 1px solid #80889080; border-radius: 4px; padding: .2rem .35rem; }
.lab-figure-controls input[type=range] { flex: 1; min-width: 0; accent-color: var(--st-primary-color, #0072b2); }
.lab-figure-controls input[type=checkbox] { accent-color: var(--st-primary-color, #0072b2); }
.lab-figure-controls output { min-width: 3.2rem; text-align: right; }
.lab-figure-controls fieldset { border: 1px solid #80889060; border-radius: 4px; max-height: 9.5rem; overflow: auto; margin: 0; min-width: 0; }
.lab-figure-controls fieldset label { align-items: flex-start; }
.lab-figure-controls fieldset input { flex: none; margin-top: .25em; }
.lab-figure-right { display: flex; flex-direction: column; gap: .5rem; min-width: 0; }
.lab-figure-preview { min-height: 300px; display: flex; align-items: center; justify-content: center; border: 1px solid #80889060;
  background: repeating-conic-gradient(#8088901a 0 25%, transparent 0 50%) 0 0 / 20px 20px; }
.lab-figure-preview[data-theme=dark] { background-color: #333; }
.lab-figure-preview[data-theme=light] { background-color: #fff; }
.lab-figure-preview img { max-width: 100%; max-height: 66vh; }
.lab-figure-preview pre { font-size: 12px; overflow: auto; max-height: 60vh; width: 100%; padding: .5rem; color: #1b2430; background: #fff; margin: 0; }
.lab-figure-problem { min-height: 1.3em; margin: 0; }
.lab-figure-below { display: flex; gap: .6rem; align-items: center; flex-wrap: wrap; }
.lab-figure-name { flex: 1; min-width: 12rem; overflow-wrap: anywhere; opacity: .8; font-size: 12px; }
.lab-figure-below button { font: inherit; padding: .35rem 1rem; border-radius: 6px; border: 1px solid #80889080; cursor: pointer;
  background: transparent; color: inherit; }
.lab-figure-below button.lab-figure-save { background: #005f94; color: #fff; border-color: #005f94; }
.lab-figure-below button:disabled { opacity: .5; }
.lab-figure :focus-visible { outline: 2px solid var(--st-primary-color, #0072b2); outline-offset: 2px; }
@media (max-width: 760px) { .lab-figure-parts { grid-template-columns: 1fr; } .lab-figure-right { order: -1; } }
`
