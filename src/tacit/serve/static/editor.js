// The editor for SQL: colours behind the letters, and names to complete. It stays a textarea: all that a keyboard, a
// screen reader or a form can do with one still works. Names come from the list of tables on the page.
"use strict";
(() => {
  const box = document.querySelector(".editor");
  if (!box) return;
  const area = box.querySelector("textarea");
  const words = box.dataset.words.split(", ");
  const calls = box.dataset.calls.split(" ");
  const keywords = new Set(words.flatMap((word) => word.split(" ")).concat("BY", "INNER", "USING", "INTERVAL", "OFFSET", "WITH", "OVER", "WHEN", "NULL", "IS", "ASC"));

  const tables = new Map(); // by name in small letters: how it is written, and its columns
  for (const item of document.querySelectorAll("#tables strong[data-table]")) {
    tables.set(item.dataset.table.toLowerCase(), { written: item.dataset.insert, columns: [] });
  }
  for (const item of document.querySelectorAll("#tables code[data-table]")) {
    tables.get(item.dataset.table.toLowerCase())?.columns.push({ written: item.dataset.insert, name: item.textContent });
  }

  // Colours: the same letters in a layer below, which is told to nobody who listens.
  const layer = document.createElement("pre");
  layer.className = "colours";
  layer.setAttribute("aria-hidden", "true");
  box.prepend(layer);
  box.classList.add("coloured");
  const TOKEN = /(--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|('(?:[^']|'')*'?)|("(?:[^"]|"")*"?)|(\b\d+(?:\.\d+)?\b)|([A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)/g;
  const kindOf = (found, after) => {
    if (found[1]) return "remark";
    if (found[2]) return "text";
    if (found[3]) return "name";
    if (found[4]) return "number";
    if (/^\s*\(/.test(after)) return keywords.has(found[5].toUpperCase()) ? "word" : "call";
    return keywords.has(found[5].toUpperCase()) ? "word" : "";
  };
  const paint = () => {
    const text = area.value;
    const pieces = [];
    let last = 0;
    for (const found of text.matchAll(TOKEN)) {
      const kind = kindOf(found, text.slice(found.index + found[0].length, found.index + found[0].length + 3));
      if (!kind) continue;
      pieces.push(text.slice(last, found.index));
      const piece = document.createElement("span");
      piece.className = `sql-${kind}`;
      piece.textContent = found[0];
      pieces.push(piece);
      last = found.index + found[0].length;
    }
    pieces.push(`${text.slice(last)}\n`);
    layer.replaceChildren(...pieces);
    layer.scrollTop = area.scrollTop;
    layer.scrollLeft = area.scrollLeft;
  };
  area.addEventListener("input", paint);
  area.addEventListener("scroll", () => { layer.scrollTop = area.scrollTop; layer.scrollLeft = area.scrollLeft; });
  new ResizeObserver(paint).observe(area);

  // Completion: a list below the cursor.
  const list = document.createElement("ul");
  list.className = "completions";
  list.id = "completions";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Completions");
  list.hidden = true;
  box.append(list);
  const said = document.createElement("span");
  said.className = "skip";
  said.setAttribute("role", "status");
  box.append(said);
  area.setAttribute("aria-autocomplete", "list");
  area.setAttribute("aria-controls", "completions");
  let shown = [], chosen = 0, from = 0;

  const close = () => { list.hidden = true; shown = []; area.removeAttribute("aria-activedescendant"); said.textContent = ""; };
  const mark = () => {
    [...list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === chosen)));
    list.children[chosen]?.scrollIntoView({ block: "nearest" });
    area.setAttribute("aria-activedescendant", `completion-${chosen}`);
  };
  const take = (i) => {
    const { written, call } = shown[i];
    area.setRangeText(written + (call ? "(" : ""), from, area.selectionStart, "end");
    close();
    area.dispatchEvent(new Event("input", { bubbles: true }));
    close();
    area.focus();
  };

  // Tables that the question names, by their own names and by those it gives them.
  const named = (text) => {
    const found = new Map();
    for (const each of text.matchAll(/\b(?:from|join)\s+"?([\w\u0080-\uffff]+)"?(?:\s+(?:as\s+)?(?!on\b|where\b|join\b|group\b|left\b|inner\b|order\b)([a-z_]\w*))?/gi)) {
      const table = tables.get(each[1].toLowerCase());
      if (!table) continue;
      found.set(each[1].toLowerCase(), table);
      if (each[2]) found.set(each[2].toLowerCase(), table);
    }
    return found;
  };
  const candidates = (before, text) => {
    const inside = named(text);
    const dotted = /"?([\w\u0080-\uffff]+)"?\.\s*"?[\w\u0080-\uffff]*$/.exec(before);
    const columns = (table) => table.columns.map(({ written, name }) => ({ written, name, kind: "column" }));
    if (dotted) {
      const table = inside.get(dotted[1].toLowerCase()) ?? tables.get(dotted[1].toLowerCase());
      return table ? columns(table) : [];
    }
    const all = [...tables].map(([name, table]) => ({ written: table.written, name, kind: "table" }));
    if (/\b(?:from|join)\s+"?[\w\u0080-\uffff]*$/i.test(before)) return all;
    const near = new Set(inside.values());
    const far = [...tables.values()].filter((table) => !near.has(table));
    return [
      ...[...near].flatMap(columns),
      ...(near.size ? [] : far.flatMap(columns)),
      ...calls.map((name) => ({ written: name, name, kind: "aggregate", call: true })),
      ...words.map((name) => ({ written: name, name, kind: "word" })),
      ...all,
    ];
  };
  const place = () => {
    const at = document.createRange();
    const walker = document.createTreeWalker(layer, NodeFilter.SHOW_TEXT);
    let left = from;
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (left <= node.length) { at.setStart(node, left); break; }
      left -= node.length;
    }
    at.collapse(true);
    const spot = at.getBoundingClientRect(), frame = box.getBoundingClientRect();
    list.style.left = `${Math.max(0, Math.min(spot.left - frame.left, frame.width - list.offsetWidth))}px`;
    list.style.top = `${spot.bottom - frame.top + 4}px`;
  };
  const complete = (forced) => {
    const end = area.selectionStart;
    if (end !== area.selectionEnd) return close();
    const before = area.value.slice(0, end);
    const quotes = (before.match(/'/g) ?? []).length;
    if (quotes % 2 || /--[^\n]*$/.test(before)) return close(); // inside a text or a remark
    const part = /"?[\w\u0080-\uffff]*$/.exec(before)[0];
    from = end - part.length;
    const wanted = part.replace('"', "").toLowerCase();
    if (!forced && !wanted && !/\.$/.test(before)) return close();
    const seen = new Set();
    const all = candidates(before, area.value).filter(({ name, written, kind }) => {
      const fresh = !seen.has(kind + written);
      seen.add(kind + written);
      return fresh && name.toLowerCase().startsWith(wanted) && (forced || name.toLowerCase() !== wanted);
    });
    shown = all.slice(0, 12);
    if (!shown.length || (!forced && shown.every(({ kind }) => kind === "word") && wanted.length < 2)) return close();
    chosen = 0;
    list.replaceChildren(...shown.map(({ written, kind }, i) => {
      const item = document.createElement("li");
      item.id = `completion-${i}`;
      item.setAttribute("role", "option");
      const name = document.createElement("span"), told = document.createElement("span");
      name.textContent = written;
      told.textContent = kind;
      told.className = "quiet small";
      item.append(name, told);
      item.addEventListener("mousedown", (event) => { event.preventDefault(); take(i); });
      return item;
    }));
    list.hidden = false;
    place();
    mark();
    said.textContent = `${shown.length} completions`;
  };
  area.addEventListener("input", (event) => { if (event.isTrusted) complete(false); });
  area.addEventListener("blur", close);
  area.addEventListener("click", close);
  area.addEventListener("keydown", (event) => {
    if (event.key === " " && (event.ctrlKey || event.metaKey)) { event.preventDefault(); return complete(true); }
    if (list.hidden) return;
    if (event.key === "Escape") { event.preventDefault(); return close(); }
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      chosen = (chosen + (event.key === "ArrowDown" ? 1 : shown.length - 1)) % shown.length;
      return mark();
    }
    if ((event.key === "Enter" && !event.ctrlKey && !event.metaKey) || event.key === "Tab") { event.preventDefault(); return take(chosen); }
    if (event.key === "ArrowLeft" || event.key === "ArrowRight" || event.key === "Home" || event.key === "End") close();
  });

  // Names in the list of tables are put into the question.
  for (const item of document.querySelectorAll("#tables code[data-insert]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "insert";
    button.title = "Put into the question";
    button.textContent = item.textContent;
    item.replaceChildren(button);
    button.addEventListener("click", () => {
      area.setRangeText(item.dataset.insert, area.selectionStart, area.selectionEnd, "end");
      area.dispatchEvent(new Event("input", { bubbles: true }));
      area.focus();
    });
  }
  area.addEventListener("tacit-written", paint);
  paint();
})();
