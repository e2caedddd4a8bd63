"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const data = (id) => { const found = $(id); return found ? JSON.parse(found.textContent) : null; };

  function make(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (value !== null && value !== undefined) made.setAttribute(key, value);
    }
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
  }

  // Text as it may be shown: nothing that a terminal obeys, and nothing that hides or turns what stands beside it.
  const ESCAPES = /\x1b\[[0-?]*[ -\/]*[@-~]|\x1b\][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)|\x1b[@-Z\\\]^_]|\x1b[()][A-Z0-9]/g;
  const HIDING = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;
  const shown = (text) => text.replace(ESCAPES, "").replace(/\r\n?/g, "\n").replace(HIDING, (c) =>
    c < " " ? String.fromCharCode(0x2400 + c.charCodeAt(0)) : `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);

  // Sorting and filtering of tables

  const order = new Intl.Collator("en", { numeric: true }).compare;
  function sortBy(button) {
    const head = button.closest("th"), table = head.closest("table"), body = table.tBodies[0];
    const column = [...head.parentNode.children].indexOf(head);
    const first = head.dataset.first || "ascending";
    const other = first === "ascending" ? "descending" : "ascending";
    const now = head.getAttribute("aria-sort") === first ? other : first;
    for (const one of head.parentNode.children) one.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", now);
    const sign = now === "ascending" ? 1 : -1;
    const value = (row) => { const cell = row.children[column]; return cell.dataset.v ?? cell.textContent.trim(); };
    const rows = [...body.rows].map((row) => [value(row), row]);
    rows.sort(([a], [b]) => {
      if (a === "" || b === "") return (a === "") - (b === "");  // what is not known comes last, both ways
      const numbers = a - b;
      return sign * (Number.isNaN(numbers) ? order(a, b) : numbers);
    });
    body.append(...rows.map(([, row]) => row));
  }
  document.addEventListener("click", (event) => {
    const button = event.target.closest("th button");
    if (button) sortBy(button);
  });

  const words = (input) => input.value.toLowerCase().split(/\s+/).filter(Boolean);
  function filter(table, told, keep) {
    let kept = 0;
    const rows = table.tBodies[0].rows;
    for (const row of rows) { row.hidden = !keep(row); kept += row.hidden ? 0 : 1; }
    told.textContent = `${kept.toLocaleString("en")} of ${rows.length.toLocaleString("en")} shown`;
  }
  const has = (row, wanted) => { const text = row.dataset.text; return wanted.every((word) => text.includes(word)); };

  function filterTasks() {
    const wanted = words($("task-words")), kind = $("task-kind").value;
    filter($("tasks"), $("task-count"), (row) => has(row, wanted) && (!kind || row.dataset.kind.split(" ").includes(kind)));
  }
  function filterCells() {
    const wanted = words($("cell-words")), outcome = $("cell-outcome").value, config = $("cell-config").value;
    filter($("cells"), $("cell-count"), (row) => has(row, wanted)
      && (!outcome || row.dataset.outcome === outcome) && (!config || row.dataset.config === config));
  }
  function chooseColumns() {
    for (const box of document.querySelectorAll("#task-columns input")) {
      for (const cell of $("tasks").querySelectorAll(`[data-column="${box.value}"]`)) cell.hidden = !box.checked;
    }
  }
  if ($("tasks")) {
    for (const id of ["task-words", "task-kind"]) $(id).addEventListener("input", filterTasks);
    for (const id of ["cell-words", "cell-outcome", "cell-config"]) $(id).addEventListener("input", filterCells);
    $("task-columns").addEventListener("input", chooseColumns);
    filterTasks(); filterCells(); chooseColumns();
  }

  // The page of a cell

  const rows = [...document.querySelectorAll("#cells tbody tr")];
  const keys = rows.map((row) => row.dataset.key);

  function lines(text) {
    const shape = (line) => line.startsWith("diff --git ") ? "file" : line.startsWith("@@") ? "hunk"
      : /^(\+\+\+ |--- |index )/.test(line) ? "fine"
      : line.startsWith("+") ? "add" : line.startsWith("-") ? "del" : "";
    const pre = make("pre", { class: "diff", tabindex: 0 });
    // Inside a hunk `--- x` is a deleted line, so the lines of a hunk are counted.
    let old = 0, fresh = 0;
    for (const line of shown(text).replace(/\n$/, "").split("\n")) {
      let kind = "";
      if (old > 0 || fresh > 0) {
        kind = line[0] === "+" ? "add" : line[0] === "-" ? "del" : "";
        if (line[0] !== "+" && line[0] !== "\\") old -= 1;
        if (line[0] !== "-" && line[0] !== "\\") fresh -= 1;
      } else {
        kind = shape(line);
        const hunk = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line);
        if (hunk) { old = +(hunk[1] ?? 1); fresh = +(hunk[2] ?? 1); }
      }
      pre.append(make("span", kind ? { class: kind } : {}, line));
    }
    return pre;
  }
  function diff(title, text, absent, note) {
    const body = text === null ? make("p", { class: "soft" }, absent)
      : text === "" ? make("p", { class: "soft" }, "Empty: nothing was changed.") : lines(text);
    return make("div", {}, make("h3", {}, title), note ? make("p", { class: "note" }, note) : null, body);
  }

  const flat = (value) => typeof value === "string" ? value
    : Array.isArray(value) ? value.map((part) => typeof part?.text === "string" ? part.text : flat(part)).join("\n")
    : value === undefined || value === null ? "" : JSON.stringify(value, null, 1);

  // Marks of beginnings and ends that say nothing to a reader; they stay in what is shown as printed.
  const SILENT = new Set(["thread.started", "turn.started", "turn.completed", "step_start", "step_finish", "item.started", "item.updated"]);

  // What the lines of the known agents say; anything else is shown as it is.
  function turnsOf(line) {
    if (SILENT.has(line.type)) return [];
    if (line.type === "system" && line.subtype === "init") return [["", "begins", flat(line.model)]];
    const content = line.message?.content ?? line.content;
    const who = line.message?.role ?? line.role ?? line.type ?? "";
    if (Array.isArray(content)) {
      return content.map((part) =>
        part.type === "tool_use" ? ["agent", `uses ${part.name}`, flat(part.input?.command ?? part.input)]
        : part.type === "tool_result" ? ["", "result", flat(part.content)]
        : part.type === "thinking" ? ["agent", "thinks", flat(part.thinking)]
        : [who === "assistant" ? "agent" : "", who, flat(part.text ?? part)]);
    }
    if (typeof content === "string") return [[who === "assistant" ? "agent" : "", who, content]];
    if (line.item && typeof line.item === "object") {
      const item = line.item;
      if (item.command) return [["agent", "runs", flat(item.command)], ["", "result", flat(item.aggregated_output)]];
      if (Array.isArray(item.changes)) {
        return [["agent", "changes files", item.changes.map((one) => `${one.kind} ${one.path}`).join("\n")]];
      }
      return [["agent", flat(item.type ?? line.type), flat(item.text ?? item)]];
    }
    if (line.part && typeof line.part === "object") {
      const { type, text, tool, state } = line.part;
      if (typeof text === "string") return [["agent", flat(type), text]];
      if (tool) return [["agent", `uses ${tool}`, flat(state?.input?.command ?? state?.input)], ["", "result", flat(state?.output ?? state?.error)]];
    }
    if (typeof line.result === "string") return [["agent", line.type ?? "result", line.result]];
    return null;
  }
  function transcript(text) {
    const parts = [];
    let plain = [];
    const flush = () => { if (plain.length) parts.push(["", "output", plain.join("\n")]); plain = []; };
    let understood = 0;
    for (const line of text.split("\n")) {
      let turns = null;
      if (line.startsWith("{")) {
        try { turns = turnsOf(JSON.parse(line)); } catch { turns = null; }
      }
      if (turns === null) { plain.push(line); continue; }
      understood += 1;
      flush();
      parts.push(...turns);
    }
    flush();
    if (!understood) return null;
    const box = make("div", {});
    for (const [kind, title, words] of parts) {
      const said = words.trim() ? make("pre", { class: "wrap", tabindex: 0 }, shown(words)) : null;
      if (said || kind === "agent") box.append(make("div", { class: `turn ${kind}` }, make("b", {}, shown(title)), said));
    }
    return box;
  }

  function tests(list) {
    const told = list.some(([, , message]) => message);  // few runners' grades have messages
    const heads = ["test", "outcome", ...(told ? ["message"] : [])];
    const table = make("table", {}, make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", {}, head)))));
    const body = make("tbody");
    for (const [id, outcome, message] of list) {
      const good = outcome === "passed";
      body.append(make("tr", {}, make("th", { class: "mono" }, shown(id)),
        make("td", {}, make("span", { class: `pill ${good ? "pass" : outcome === "skipped" ? "error" : "fail"}` }, outcome)),
        told ? make("td", { class: "wide" }, message ? make("pre", { class: "wrap" }, shown(message)) : "") : null));
    }
    table.append(body);
    return make("div", { class: "scroll" }, table);
  }

  const part = (id, title, ...children) => make("section", { id: `part-${id}` }, make("h2", {}, title), ...children);
  function crumbs(at) {
    const to = (index, text) => keys[index] ? make("a", { href: `#cell-${keys[index]}` }, text) : null;
    return make("div", { class: "crumbs" }, make("a", { href: "#" }, "← Report"),
      make("span", {}, to(at - 1, "‹ previous cell"), to(at + 1, "next cell ›")));
  }

  function draw(at) {
    const cell = data(`d${at}`), task = data(`t${cell.t}`) || {};
    const page = $("cell");
    const title = make("h1", {}, `${cell.task} `, cell.about ? make("span", { class: "about" }, `${cell.about} `) : null,
      make("span", { class: `pill ${cell.outcome}` }, cell.outcome));
    const facts = make("dl", { class: "facts" }, ...cell.facts.map(([name, value]) =>
      make("div", {}, make("dt", {}, name), make("dd", {}, value))));
    const why = [...cell.reasons, cell.error, cell.refused].filter(Boolean);
    const children = [crumbs(at), title,
      make("p", { class: "soft" }, `${cell.label}, attempt ${cell.attempt}`),
      why.length ? make("ul", { class: "reasons" }, ...why.map((text) => make("li", {}, shown(text)))) : null, facts];
    const parts = [];
    if (cell.final) parts.push(["final", "Final message", make("pre", { class: "wrap" }, shown(cell.final))]);
    parts.push(["patch", "Candidate beside reference", make("div", { class: "beside" },
      diff("Candidate", cell.candidate, "No candidate could be taken.", cell.cut.candidate),
      diff("Reference", task.reference ?? null, "Not known: the task has changed since, or is gone.", task.cut))]);
    parts.push(["tests", "Tests", cell.tests.length ? tests(cell.tests) : make("p", { class: "soft" }, "No per-test results."),
      cell.cut.tests ? make("p", { class: "note" }, cell.cut.tests) : null]);
    if (cell.remarks.length) {
      parts.push(["remarks", "Remarks", make("ul", { class: "reasons" }, ...cell.remarks.map((text) => make("li", {}, shown(text))))]);
    }
    const planted = "Tests that berbench planted to watch the run may be in it, and some of them must fail. The tests that count are those above.";
    parts.push(["log", "Verifier's log", cell.log ? make("p", { class: "note" }, planted) : null, cell.cut.log ? make("p", { class: "note" }, cell.cut.log) : null,
      cell.log ? make("pre", { class: "wrap", tabindex: 0 }, shown(cell.log)) : make("p", { class: "soft" }, "Empty.")]);
    if (cell.transcript) {
      const raw = make("pre", { class: "wrap", tabindex: 0 }, shown(cell.transcript));
      const turns = transcript(cell.transcript);
      const section = ["transcript", "Transcript", cell.cut.transcript ? make("p", { class: "note" }, cell.cut.transcript) : null, turns ?? raw];
      if (turns) {
        raw.hidden = true;
        const toggle = make("button", { class: "toggle", type: "button" }, "as printed");
        toggle.addEventListener("click", () => {
          raw.hidden = !raw.hidden; turns.hidden = !raw.hidden;
          toggle.textContent = raw.hidden ? "as printed" : "as turns";
        });
        section.splice(2, 0, toggle);
        section.push(raw);
      }
      parts.push(section);
    } else {
      parts.push(["transcript", "Transcript", make("p", { class: "soft" }, "Empty.")]);
    }
    if (task.prompt) parts.push(["prompt", "Prompt", make("pre", { class: "wrap" }, shown(task.prompt))]);
    const nav = make("nav", { class: "parts", "aria-label": "Parts of this cell" });
    for (const [id, name] of parts) {
      const link = make("a", { href: `#cell-${cell.key}`, "data-part": id }, name);
      link.addEventListener("click", (event) => { event.preventDefault(); $(`part-${id}`).scrollIntoView(); });
      nav.append(link);
    }
    const where = cell.where ? make("p", { class: "note" }, "All of it, uncut: ", make("code", {}, cell.where)) : null;
    page.replaceChildren(...[...children, nav, ...parts.map((one) => part(...one)), where].filter(Boolean));
    document.title = `${cell.task} · ${cell.label}`;
  }

  const name = document.title;
  let left = 0;
  function go() {
    const wanted = /^#cell-([0-9a-z]+)$/i.exec(location.hash);
    const at = wanted ? keys.findIndex((key) => key.startsWith(wanted[1])) : -1;
    if (at >= 0 && !$("overview").hidden) left = scrollY;
    $("overview").hidden = at >= 0;
    $("cell").hidden = at < 0;
    if (at >= 0) { draw(at); scrollTo(0, 0); return; }
    $("cell").replaceChildren();
    document.title = name;
    if (!location.hash || location.hash === "#") scrollTo(0, left);
  }
  addEventListener("hashchange", go);
  go();
})();
