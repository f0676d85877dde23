// Asking: what a question costs and how far off its answer will be, while somebody writes; a slider for ε; lists that
// know which columns belong to which table and write the SQL; Ctrl+Enter. All else is plain forms.
"use strict";
(() => {
  const form = document.getElementById("ask");
  if (!form) return;
  const field = (name) => form.elements.namedItem(name);
  const [epsilon, sql, persons, slider] = [field("epsilon"), field("sql"), field("persons"), document.getElementById("slider")];
  const preview = document.getElementById("preview");
  const mark = document.querySelector('meta[name="mark"]').content;
  const base = `/v1/datasets/${encodeURIComponent(form.dataset.dataset)}`;
  const post = (path, body) => fetch(`${base}/${path}`, {
    method: "POST", headers: { "Content-Type": "application/json", "X-CSRF-Token": mark }, body: JSON.stringify(body),
  });
  const written = (name) => field(name)?.value.trim() || undefined;
  const cost = () => (written("rho") ? { rho: written("rho") } : { epsilon: written("epsilon"), delta: written("delta") });
  const capital = (text) => text.replace(/^[a-z]/, (letter) => letter.toUpperCase()); // not ε, whose capital reads as an E

  // The slider runs from 0.01 to 10 in equal ratios.
  const LOW = 0.01, HIGH = 10, STEPS = Number(slider.max);
  const toSlider = (value) => Math.round((STEPS * Math.log(value / LOW)) / Math.log(HIGH / LOW));
  const fromSlider = (step) => String(Number((LOW * (HIGH / LOW) ** (step / STEPS)).toPrecision(2)));
  const follow = () => {
    const value = Number(epsilon.value);
    if (value > 0) slider.value = Math.min(STEPS, Math.max(0, toSlider(value)));
    slider.setAttribute("aria-valuetext", `epsilon ${epsilon.value}`);
  };
  document.getElementById("slide").hidden = false;
  document.getElementById("keys").hidden = false;
  follow();
  slider.addEventListener("input", () => { epsilon.value = fromSlider(Number(slider.value)); follow(); later(); });
  epsilon.addEventListener("input", () => { follow(); later(); });
  for (const name of ["sql", "persons", "delta", "rho", "fresh"]) field(name)?.addEventListener("input", () => later());

  // The preview: the cost at once, the error to expect when it is worked out.
  let timer = 0, round = 0;
  const later = () => { clearTimeout(timer); timer = setTimeout(show, 350); };
  const line = (kind, text) => {
    const found = document.createElement("p");
    found.className = `notice ${kind}`;
    found.textContent = capital(text);
    return found;
  };
  const errors = (found) => {
    const whole = document.createElement("div"), head = document.createElement("strong"), list = document.createElement("ul");
    whole.className = "notice plain";
    head.textContent = "Expected error";
    const words = found.errors.length ? found.errors.map((each) => each.words) : [found.words];
    list.replaceChildren(...words.map((text) => { const item = document.createElement("li"); item.textContent = text; return item; }));
    whole.append(head, list);
    if (found.errors.some((each) => each.share !== null)) {
      const told = document.createElement("p");
      told.className = "hint";
      told.textContent = `Measured on made-up data of about ${found.persons.toLocaleString("en")} persons, skewed like incomes; no private data was read.`;
      whole.append(told);
    }
    return whole;
  };
  const show = async () => {
    const mine = ++round;
    const body = { sql: sql.value, fresh: field("fresh").checked, ...cost() };
    if (!body.sql.trim() || !(body.rho || body.epsilon)) return preview.replaceChildren();
    try {
      const response = await post("cost", body);
      const seen = await response.json();
      if (mine !== round) return;
      if (!response.ok) return preview.replaceChildren(line("bad", seen.message));
      const first = line(seen.fits ? "plain" : "bad", seen.told);
      preview.replaceChildren(first, line("plain", "working out the error to expect…"));
      const about = (persons.value.match(/\d+/g) ?? []).join("").slice(0, 9);
      const forecast = await post(`expected${Number(about) ? `?persons=${Number(about)}` : ""}`, body);
      const told = await forecast.json();
      if (mine !== round) return;
      preview.replaceChildren(first, forecast.ok ? errors(told) : line("plain", told.message));
      if (forecast.ok && told.persons && !persons.value) persons.placeholder = `${told.persons}`;
    } catch {
      if (mine === round) preview.replaceChildren(line("bad", "the gateway cannot be reached; nothing was spent."));
    }
  };
  if (!preview.hasChildNodes()) later();
  const write = (text) => {
    sql.value = text;
    sql.dispatchEvent(new Event("tacit-written"));
    later();
  };

  // Questions to begin with fill the form in.
  for (const link of form.querySelectorAll("a[data-sql]")) {
    link.addEventListener("click", (event) => { event.preventDefault(); write(link.dataset.sql); sql.focus(); });
  }

  // The builder.
  const builder = document.getElementById("builder");
  const chosen = (name) => field(name).selectedOptions[0];
  const lists = ["column", "group_by", "filter_column"].map((name) => {
    const groups = [...field(name).querySelectorAll("optgroup")];
    return { name, groups: new Map(groups.map((group) => [group.label, [...group.children]])), none: field(name).options[0] };
  });
  const part = (name, visible) => { builder.querySelector(`[data-field="${name}"]`).hidden = !visible; };
  const fits = (takes, kind) => takes === "number" ? kind === "number" : takes === "ordered" ? kind === "number" || kind === "date" : true;
  const HINTS = { number: "1 to 12, or 1, 2, 3", date: "2024-01-01 to 2024-12-31", text: "north, south" };
  const arrange = () => {
    const takes = chosen("statistic")?.dataset.takes ?? "";
    for (const { name, groups, none } of lists) {
      const list = field(name), kept = list.value;
      const own = (groups.get(field("table").value) ?? []).filter((item) => name !== "column" || fits(takes, item.dataset.kind));
      list.replaceChildren(none, ...own);
      list.value = own.some((item) => item.value === kept) ? kept : "";
    }
    const by = chosen("group_by")?.dataset.kind, filter = chosen("filter_column")?.dataset.kind;
    none("column").textContent = takes === "rows" ? "all rows" : "–";
    part("column", takes !== "persons");
    part("quantile", field("statistic").value === "quantile");
    part("group_step", by === "date");
    part("groups", Boolean(by) && by !== "boolean");
    part("filter_is", Boolean(filter));
    part("filter_value", Boolean(filter) && !field("filter_is").value.endsWith("null"));
    field("groups").placeholder = HINTS[by] ?? "";
    field("filter_value").placeholder = filter === "boolean" ? "true" : filter === "text" ? "north" : filter === "date" ? "2024-12-31" : "30";
  };
  const none = (name) => lists.find((list) => list.name === name).none;
  const built = document.getElementById("built");
  let writing = 0, turn = 0;
  const compose = async () => {
    const mine = ++turn;
    const names = ["table", "statistic", "column", "quantile", "group_by", "group_step", "groups", "filter_column", "filter_is", "filter_value"];
    const visible = (name) => !builder.querySelector(`[data-field="${name}"]`).hidden;
    const question = Object.fromEntries(names.filter((name) => visible(name) && written(name)).map((name) => [name, written(name)]));
    if (!question.filter_column) delete question.filter_is;
    try {
      const response = await post("compose", question);
      const seen = await response.json();
      if (mine !== turn) return;
      built.textContent = response.ok ? "" : capital(seen.message);
      if (response.ok) write(seen.sql);
    } catch { built.textContent = "The gateway cannot be reached."; }
  };
  const soon = () => { arrange(); clearTimeout(writing); writing = setTimeout(compose, 200); };
  arrange();
  builder.querySelector("button").hidden = true;
  builder.addEventListener("input", soon);
  builder.addEventListener("toggle", () => { if (builder.open) builder.querySelector("select").focus(); });

  // Ctrl+Enter asks; a button that asks says that it works, and another one cancels what was asked.
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    form.requestSubmit(form.querySelector('button[value="ask"]'));
  });
  form.addEventListener("submit", (event) => {
    const button = event.submitter;
    if (button?.value !== "ask") return;
    const words = button.textContent, cancel = document.getElementById("cancel");
    setTimeout(() => { button.disabled = true; button.textContent = "Asking…"; cancel.hidden = false; }); // after the form was read
    window.addEventListener("pagehide", () => { button.disabled = false; button.textContent = words; cancel.hidden = true; });
  });
  document.getElementById("cancel").addEventListener("click", (event) => {
    event.target.textContent = "Cancelling…";
    post("cancel", { key: field("key").value });
  });
})();
