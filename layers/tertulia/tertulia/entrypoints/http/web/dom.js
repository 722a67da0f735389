/** Elements without markup: whatever is put in becomes a text node, so words can never act as HTML. */

const SVG = "http://www.w3.org/2000/svg";

/** Find the one element with this id. */
export const byId = (id) => document.getElementById(id);

/** Make an element; attributes that are functions listen to the event of their name. */
export function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}

/** Draw one of the icons that the page holds. */
export function icon(name) {
  const drawing = document.createElementNS(SVG, "svg");
  const use = document.createElementNS(SVG, "use");
  drawing.setAttribute("class", "icon");
  drawing.setAttribute("aria-hidden", "true");
  use.setAttribute("href", `#icon-${name}`);
  drawing.append(use);
  return drawing;
}
