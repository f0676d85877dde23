// What all pages share: times as the reader's clock has them, boxes that scroll, texts to copy, lists to search, forms
// that ask first. Every page works without it.
"use strict";
(() => {
  document.getElementById("answer")?.focus();

  // Times are written in UTC; here they become local, to the minute.
  const two = (number) => String(number).padStart(2, "0");
  for (const time of document.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    if (isNaN(at)) continue;
    time.title = time.textContent;
    time.textContent = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
  }

  // A box is a stop for the keyboard only while it has something to scroll.
  const stops = () => {
    for (const box of document.querySelectorAll(".wide")) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };
  stops();
  window.addEventListener("resize", stops);

  // <button data-copy="id"> copies the text of an element.
  for (const button of document.querySelectorAll("button[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const words = button.textContent;
      const from = document.getElementById(button.dataset.copy), text = from.value ?? from.textContent;
      try { await navigator.clipboard.writeText(text); button.textContent = "Copied"; } catch { button.textContent = "Not copied"; }
      setTimeout(() => { button.textContent = words; }, 2000);
    });
  }

  // <input data-search="id"> leaves of the [data-find] inside an element those that hold every word; one that holds
  // others stays while any of them does.
  for (const input of document.querySelectorAll("input[data-search]")) {
    const inside = document.getElementById(input.dataset.search);
    const said = document.getElementById(`${input.id}-found`);
    input.closest("[hidden]")?.removeAttribute("hidden");
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      const fits = (item) => words.every((word) => item.dataset.find.toLowerCase().includes(word));
      let count = 0;
      for (const item of inside.querySelectorAll("[data-find]")) {
        item.hidden = !fits(item);
        if (!item.hidden) count += 1;
      }
      for (const whole of inside.querySelectorAll("[data-holds]")) {
        whole.hidden = !whole.querySelector("[data-find]:not([hidden])");
        if (words.length && !whole.hidden) whole.open = true;
      }
      if (said) said.textContent = words.length ? `${count} found` : "";
    });
  }

  // <form data-confirm="words"> asks before it is sent.
  for (const form of document.querySelectorAll("form[data-confirm]")) {
    form.addEventListener("submit", (event) => { if (!window.confirm(form.dataset.confirm)) event.preventDefault(); });
  }
})();
