export const docsStyle = `
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); --soft: color-mix(in srgb, currentColor 6%, transparent); }
* { box-sizing: border-box; }
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; background: Canvas; color: CanvasText; }
header { position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; gap: .75rem 1.5rem; align-items: center; padding: .75rem 1.5rem; background: Canvas; border-bottom: 1px solid var(--line); }
h1 { font-size: 1.1rem; margin: 0; }
#search { flex: 1 1 20rem; max-width: 40rem; padding: .5rem .75rem; font: inherit; border: 1px solid var(--line); border-radius: .4rem; background: Field; color: FieldText; }
#count { margin: 0; opacity: .7; }
#layout { display: grid; grid-template-columns: 13rem minmax(0, 1fr); gap: 1.5rem; padding: 1rem 1.5rem; max-width: 80rem; margin: auto; }
nav { position: sticky; top: 4.5rem; align-self: start; max-height: calc(100vh - 6rem); overflow: auto; }
nav a { display: block; padding: .15rem 0; color: LinkText; text-decoration: none; }
section > h2 { margin: 1.5rem 0 0; font-size: 1.15rem; scroll-margin-top: 5rem; }
section > p { margin: 0 0 .5rem; opacity: .75; }
details { border: 1px solid var(--line); border-radius: .4rem; margin: .4rem 0; scroll-margin-top: 5rem; }
summary { cursor: pointer; padding: .45rem .75rem; display: flex; flex-wrap: wrap; gap: .25rem .75rem; align-items: baseline; }
summary .what { opacity: .75; }
.method { font: 600 .8rem ui-monospace, monospace; min-width: 3.6rem; }
.GET { color: light-dark(#1667a8, #7cc0ff); } .POST { color: light-dark(#1b7a3d, #79d79a); }
.PATCH, .PUT { color: light-dark(#8a5a00, #f0c060); } .DELETE { color: light-dark(#b02323, #ff9c9c); }
code, pre, .path { font-family: ui-monospace, monospace; font-size: .9em; }
.body { padding: 0 .75rem .75rem; border-top: 1px solid var(--line); overflow-x: auto; }
h3 { font-size: .95rem; margin: .9rem 0 .25rem; }
.facts { display: flex; flex-wrap: wrap; gap: .4rem; padding: 0; margin: .6rem 0; list-style: none; }
.facts li { background: var(--soft); border-radius: .3rem; padding: .1rem .5rem; font-size: .85rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--line); font-weight: normal; }
th { white-space: nowrap; }
ul.fields { list-style: none; margin: 0; padding-left: 1rem; border-left: 1px solid var(--line); }
.type { opacity: .7; } .must { color: light-dark(#b02323, #ff9c9c); }
@media (max-width: 45rem) { #layout { grid-template-columns: 1fr; } nav { display: none; } }
`;
