/**
 * The API's documentation, built from the OpenAPI document of this very server.
 */

/** @typedef {Record<string, any>} Json */

const METHODS = ["get", "post", "put", "delete"];
const MAX_DEPTH = 6;

const root = /** @type {HTMLElement} */ (document.querySelector("[data-docs]"));
const index = /** @type {HTMLElement} */ (document.querySelector("[data-docs-index]"));

/**
 * @param {string} tag
 * @param {Record<string, string>} [attributes]
 * @param {...(Node | string)} children
 */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Text with `code` in it. @param {string} text */
function prose(text) {
  return text.split("`").map((part, position) => (position % 2 ? make("code", {}, part) : part));
}

/**
 * @param {Json} document
 * @param {Json} schema
 * @returns {Json}
 */
function followed(document, schema) {
  if (typeof schema.$ref !== "string") return schema;
  return { ...document.components.schemas[schema.$ref.split("/").at(-1)], name: schema.$ref.split("/").at(-1) };
}

/**
 * @param {Json} document
 * @param {Json} given
 * @returns {string}
 */
function typeText(document, given) {
  const schema = followed(document, given);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((/** @type {unknown} */ value) => JSON.stringify(value)).join(" | ");
  const union = schema.anyOf ?? schema.oneOf;
  if (union) return [...new Set(union.map((/** @type {Json} */ member) => typeText(document, member)))].join(" | ");
  if (schema.prefixItems) return `[${schema.prefixItems.map((/** @type {Json} */ item) => typeText(document, item)).join(", ")}]`;
  if (schema.type === "array") return `${typeText(document, schema.items ?? {})}[]`;
  if (schema.name) return schema.name;
  return schema.format ?? schema.type ?? "any";
}

/** @param {Json} schema */
function rangeText(schema) {
  const parts = [];
  if (schema.minimum !== undefined) parts.push(`≥ ${schema.minimum}`);
  if (schema.exclusiveMinimum !== undefined) parts.push(`> ${schema.exclusiveMinimum}`);
  if (schema.maximum !== undefined) {
    parts.push(`≤ ${Number.isSafeInteger(schema.maximum) ? schema.maximum.toLocaleString("en") : schema.maximum.toPrecision(3)}`);
  }
  if (schema.default !== undefined && schema.default !== null && typeof schema.default !== "object" && schema.default !== "") {
    parts.push(`default ${schema.default}`);
  }
  return parts.join(", ");
}

/**
 * @param {Json} document
 * @param {Json} given
 * @param {number} depth
 * @returns {HTMLElement | null} the properties as rows, nested ones folded
 */
function properties(document, given, depth = 0) {
  const schema = followed(document, given);
  const entries = Object.entries(schema.properties ?? {});
  if (!entries.length || depth > MAX_DEPTH) return null;
  const list = make("ul", { class: "schema" });
  for (const [name, property] of entries) {
    const needed = schema.required?.includes(name);
    const item = make("li", {}, make("code", { class: "schema-name" }, name), " ", make("span", { class: "schema-type" }, typeText(document, property)));
    if (needed) item.append(" ", make("span", { class: "schema-required" }, "required"));
    const range = rangeText(followed(document, property));
    if (range) item.append(" ", make("span", { class: "muted" }, range));
    if (property.description) item.append(make("p", { class: "muted small" }, ...prose(property.description)));
    const parts = insides(document, property).flatMap((inside) => properties(document, inside, depth + 1) ?? []);
    if (parts.length) item.append(make("details", {}, make("summary", {}, "fields"), ...parts));
    list.append(item);
  }
  return list;
}

/**
 * @param {Json} document
 * @param {Json} given
 * @returns {Json[]} the object schemas behind unions and lists
 */
function insides(document, given) {
  const schema = followed(document, given);
  const union = schema.anyOf ?? schema.oneOf;
  if (union) return union.flatMap((/** @type {Json} */ member) => insides(document, member));
  if (schema.type === "array") return schema.items ? insides(document, schema.items) : [];
  return schema.properties ? [given] : [];
}

/**
 * @param {Json} document
 * @param {string} path
 * @param {string} method
 * @param {Json} operation
 */
function section(document, path, method, operation) {
  const body = make("div", { class: "operation-body" });
  if (operation.description) body.append(make("p", {}, ...prose(operation.description)));
  if (operation.parameters?.length) {
    const rows = operation.parameters.map((/** @type {Json} */ parameter) =>
      make("tr", {},
        make("td", {}, make("code", {}, parameter.name)),
        make("td", { class: "muted" }, parameter.in),
        make("td", {}, make("span", { class: "schema-type" }, typeText(document, parameter.schema)), parameter.required ? make("span", { class: "schema-required" }, " required") : ""),
        make("td", { class: "muted" }, rangeText(followed(document, parameter.schema)), " ", ...prose(parameter.description ?? parameter.schema.description ?? "")),
      ));
    body.append(make("h4", {}, "Parameters"), make("div", { class: "table-wrap" }, make("table", { class: "table" }, make("tbody", {}, ...rows))));
  }
  const content = operation.requestBody?.content?.["application/json"];
  if (content) {
    const fields = properties(document, content.schema);
    body.append(make("h4", {}, `Body: ${typeText(document, content.schema)}`), ...(fields ? [fields] : []));
  }
  const responses = Object.entries(operation.responses).map(([status, response]) => {
    const media = Object.entries(response.content ?? {})[0];
    const schema = /** @type {Json | undefined} */ (media?.[1])?.schema;
    const fields = schema && Number(status) < 400 ? insides(document, schema).flatMap((inside) => properties(document, inside) ?? []) : [];
    return make("li", {},
      make("span", { class: `status-code is-${status[0]}xx` }, status), " ",
      make("span", {}, response.description ?? ""), " ",
      media ? make("span", { class: "muted small" }, `${media[0]}${schema ? ` · ${typeText(document, schema)}` : ""}`) : "",
      ...(fields.length ? [make("details", {}, make("summary", {}, "fields"), ...fields)] : []));
  });
  body.append(make("h4", {}, "Answers"), make("ul", { class: "answers" }, ...responses));
  const id = operation.operationId;
  return make("details", { class: "card operation", id },
    make("summary", {}, make("span", { class: `method is-${method}` }, method.toUpperCase()), make("code", {}, path), make("span", { class: "muted" }, operation.summary ?? "")),
    body);
}

/** @param {Json} document */
function show(document) {
  /** @type {Map<string, HTMLElement[]>} */
  const groups = new Map();
  const links = new Map();
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const method of METHODS.filter((name) => name in operations)) {
      const operation = operations[method];
      const tag = operation.tags?.[0] ?? "other";
      groups.set(tag, [...(groups.get(tag) ?? []), section(document, path, method, operation)]);
      links.set(tag, [...(links.get(tag) ?? []), make("a", { href: `#${operation.operationId}` }, make("span", { class: `method is-${method}` }, method.toUpperCase()), operation.summary ?? path)]);
    }
  }
  const schema = properties(document, { $ref: "#/components/schemas/Scenario" });
  const sections = [...groups].map(([tag, items]) => make("section", { class: "stack stack-tight" }, make("h2", { class: "section-title" }, tag), ...items));
  if (schema) {
    sections.push(make("section", { class: "stack stack-tight", id: "scenario-document" }, make("h2", { class: "section-title" }, "The scenario document"), make("div", { class: "card" }, schema)));
  }
  root.replaceChildren(make("p", { class: "muted" }, ...prose(document.info.description)), ...sections);
  index.replaceChildren(
    ...[...links].map(([tag, items]) => make("div", {}, make("h2", {}, tag), ...items)),
    make("div", {}, make("h2", {}, "document"), make("a", { href: "#scenario-document" }, "Scenario")),
  );
  openTarget();
}

function openTarget() {
  const target = document.getElementById(location.hash.slice(1));
  if (!target) return;
  if (target instanceof HTMLDetailsElement) target.open = true;
  target.scrollIntoView();
}

addEventListener("hashchange", openTarget);

fetch(root.dataset.source ?? "")
  .then((response) => (response.ok ? response.json() : Promise.reject(new Error(`the server answered ${response.status}`))))
  .then(show)
  .catch((error) => {
    root.replaceChildren(make("div", { class: "banner banner-error", role: "alert" }, `The description could not be loaded: ${error.message}. Reload the page to try again.`));
  });
