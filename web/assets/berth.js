// The dashboard's one script. Every page works without it; with it, marked parts renew themselves, times are local, and texts can be copied.
(() => {
  "use strict";
  const root = document.documentElement;
  root.classList.add("js");

  const local = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
  const units = [[172800, 86400, " d"], [3600, 3600, " h"], [60, 60, " min"], [0, 1, " s"]];
  const distance = (ms) => {
    const seconds = Math.max(0, Math.floor(Math.abs(ms) / 1000));
    if (ms >= 0 && seconds < 2) return "just now";
    const [, size, unit] = units.find(([from]) => seconds >= from);
    const length = Math.floor(seconds / size) + unit;
    return ms < 0 ? "in " + length : length + " ago";
  };
  const times = (within) => {
    for (const time of within.querySelectorAll("time[data-local]")) {
      const at = new Date(time.dateTime);
      if (!Number.isNaN(at.getTime())) time.textContent = local.format(at);
      time.removeAttribute("data-local");
    }
    for (const time of within.querySelectorAll("time[data-ago]")) {
      const at = Date.parse(time.dateTime);
      if (!Number.isNaN(at)) time.textContent = distance(Date.now() - at);
    }
  };

  const copying = (within) => {
    if (!navigator.clipboard) return;
    for (const block of within.querySelectorAll(".code:not([data-ready])")) {
      block.dataset.ready = "";
      const button = document.createElement("button");
      button.type = "button";
      button.className = "btn small copy";
      button.textContent = "Copy";
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(block.querySelector("pre").textContent);
        button.textContent = "Copied";
        setTimeout(() => { button.textContent = "Copy"; }, 1500);
      });
      block.append(button);
    }
  };

  // What the reader has done to a part stays when it is renewed: ticks, open details, the place in the output.
  const renewed = (section, html) => {
    const picked = new Set([...section.querySelectorAll("input[type=checkbox]:checked")].map((box) => box.value));
    const opened = new Set([...section.querySelectorAll("details[open][id]")].map((one) => one.id));
    const focused = section.contains(document.activeElement) ? document.activeElement.id : "";
    const logs = new Map([...section.querySelectorAll(".log")].map((log) => [log.id, [log.scrollTop, log.scrollTop + log.clientHeight >= log.scrollHeight - 8]]));
    section.innerHTML = html;
    for (const box of section.querySelectorAll("input[type=checkbox]")) box.checked = picked.has(box.value);
    for (const id of opened) document.getElementById(id)?.setAttribute("open", "");
    for (const [id, [top, atEnd]] of logs) {
      const log = document.getElementById(id);
      if (log) log.scrollTop = atEnd ? log.scrollHeight : top;
    }
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
    ready(section);
  };

  const seen = new WeakMap();
  const live = (section) => {
    let wait = Number(section.dataset.every) || 2000;
    const first = wait;
    const again = () => setTimeout(look, wait);
    const look = async () => {
      if (!section.isConnected) return;
      if (document.visibilityState !== "visible" || section.querySelector(":popover-open")) return again();
      try {
        const answer = await fetch(section.dataset.live, { headers: { accept: "text/html" } });
        if (answer.status === 401) return location.reload();
        if (!answer.ok) throw new Error(String(answer.status));
        const html = await answer.text();
        const selected = getSelection();
        const reading = selected && !selected.isCollapsed && section.contains(selected.anchorNode);
        section.removeAttribute("data-stale");
        wait = first;
        if (html !== seen.get(section) && !reading) {
          renewed(section, html);
          seen.set(section, html);
        }
        if (section.querySelector("[data-over]")) return;
      } catch {
        section.setAttribute("data-stale", "");
        wait = Math.min(wait * 2, 30000);
      }
      again();
    };
    again();
  };

  const picking = (within) => {
    for (const all of within.querySelectorAll("input[data-all]:not([data-ready])")) {
      all.dataset.ready = "";
      all.addEventListener("change", () => {
        for (const box of all.closest("table").querySelectorAll("tbody input[type=checkbox]")) box.checked = all.checked;
      });
    }
  };

  // A form with a preview: what it would do is asked for a moment after the last change.
  const previewing = (form) => {
    const shown = form.querySelector("#preview");
    let waiting = 0, turn = 0;
    const ask = async () => {
      const own = ++turn;
      const fields = new URLSearchParams(new FormData(form));
      fields.set("preview", "yes");
      try {
        const answer = await fetch(form.action, { method: "POST", headers: { accept: "text/html" }, body: fields });
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        const made = page.querySelector("#preview");
        if (made && own === turn) { shown.innerHTML = made.innerHTML; ready(shown); }
      } catch { /* The button does the same. */ }
    };
    form.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(ask, 700); });
  };

  const ready = (within) => { times(within); copying(within); picking(within); };
  ready(document);
  for (const log of document.querySelectorAll(".log")) log.scrollTop = log.scrollHeight;
  for (const section of document.querySelectorAll("[data-live]")) live(section);
  for (const form of document.querySelectorAll("form[data-preview]")) previewing(form);
  setInterval(() => times(document), 5000);
})();
