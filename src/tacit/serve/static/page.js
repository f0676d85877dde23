// Previews while somebody types, a slider for ε, and a button that says it is working. All else is plain forms.
"use strict";
(() => {
  const form = document.getElementById("ask");
  document.getElementById("answer")?.focus();
  if (!form) return;
  const field = (name) => form.elements.namedItem(name);
  const [epsilon, sql, persons, slider] = [field("epsilon"), field("sql"), field("persons"), document.getElementById("slider")];
  const preview = document.getElementById("preview");
  const mark = document.querySelector('meta[name="mark"]').content;
  const base = `/v1/datasets/${encodeURIComponent(form.dataset.dataset)}`;

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
  follow();
  slider.addEventListener("input", () => { epsilon.value = fromSlider(Number(slider.value)); follow(); later(); });
  epsilon.addEventListener("input", () => { follow(); later(); });
  for (const name of ["sql", "persons", "delta", "rho"]) field(name)?.addEventListener("input", () => later());

  let timer = 0, round = 0;
  const later = () => { clearTimeout(timer); timer = setTimeout(show, 350); };
  const say = (texts) => {
    preview.replaceChildren(...texts.map(([kind, text]) => {
      const line = document.createElement("p");
      line.className = `notice ${kind}`;
      line.textContent = text.charAt(0).toUpperCase() + text.slice(1);
      return line;
    }));
  };
  const show = async () => {
    const mine = ++round;
    const written = (name) => field(name)?.value.trim() || undefined;
    const cost = written("rho") ? { rho: written("rho") } : { epsilon: written("epsilon"), delta: written("delta") };
    const body = { sql: sql.value, ...cost };
    if (!body.sql.trim() || !(cost.rho || cost.epsilon)) return say([]);
    const headers = { "Content-Type": "application/json", "X-CSRF-Token": mark };
    try {
      const response = await fetch(`${base}/cost`, { method: "POST", headers, body: JSON.stringify(body) });
      const seen = await response.json();
      if (mine !== round) return;
      if (!response.ok) return say([["bad", seen.message]]);
      const lines = [[seen.fits ? "plain" : "bad", seen.words]];
      const known = seen.forecast && /^[1-9]\d{0,8}$/.test(persons.value.trim());
      say(known ? [...lines, ["plain", "working out the accuracy to expect…"]] : lines);
      if (!known) return;
      const wanted = new URLSearchParams({ statistic: seen.forecast, epsilon: body.epsilon, persons: persons.value.trim() });
      const forecast = await fetch(`${base}/plan?${wanted}`);
      const told = await forecast.json();
      if (mine === round) say([...lines, ["plain", forecast.ok ? `${told.words} (Measured on made-up data of that shape.)` : told.message]]);
    } catch {
      if (mine === round) say([["bad", "the gateway cannot be reached; nothing was spent."]]);
    }
  };
  if (!preview.hasChildNodes()) later();

  form.addEventListener("submit", (event) => {
    const button = event.submitter;
    if (button?.value !== "ask") return;
    const words = button.textContent;
    setTimeout(() => { button.disabled = true; button.textContent = "Asking…"; }); // after the form was read
    window.addEventListener("pagehide", () => { button.disabled = false; button.textContent = words; });
  });
})();
