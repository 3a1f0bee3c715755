// Lets users drag the edges of the drawn week, or move them with the arrow keys. Each edge is a time in a text field of
// the form. Without this script, users type the time.
"use strict";
for (const week of document.querySelectorAll("[data-edges]")) {
  const STEP = 15, DAY = 1440, TIME = /\d?\d:\d\d/g;
  const fields = document.querySelector(".fields");
  const span = Number(week.dataset.span);
  const text = (field) => field.value || field.dataset.inherited || "";
  const days = (field) => text(field).replace(TIME, "");

  /** Minutes from the midnight of its day. The end of a window that is not after its start is on the next day. */
  function minutes({ field, at, isWindow, isStart }) {
    const all = (text(field).match(TIME) ?? []).map((time) => time.split(":").reduce((hour, minute) => hour * 60 + +minute, 0));
    return isWindow && !isStart && all[at] <= all[at - 1] ? all[at] + DAY : all[at];
  }

  function clock(minutes) {
    const ofDay = minutes > DAY ? minutes - DAY : minutes;
    return [Math.floor(ofDay / 60), ofDay % 60].map((part) => String(part).padStart(2, "0")).join(":");
  }

  /** A window has from 15 minutes to a day. */
  function limits(edge) {
    if (!edge.isWindow) return [0, DAY - STEP];
    const other = minutes({ ...edge, at: edge.at ^ 1, isStart: !edge.isStart });
    return edge.isStart ? [Math.max(0, other - DAY), Math.min(DAY, other) - STEP] : [other + STEP, other + DAY];
  }

  function move(edge, to) {
    const [least, most] = limits(edge);
    to = Math.min(Math.max(Math.round(to / STEP) * STEP, least), most);
    if (to === minutes(edge)) return;
    let at = 0;
    edge.field.value = text(edge.field).replace(TIME, (time) => at++ === edge.at ? clock(to) : time);
    show();
  }

  function show() {
    for (const edge of edges) {
      const { handle, change } = edge;
      const now = minutes(edge), x = edge.midnight + now, [least, most] = limits(edge);
      edge.drawn ??= x;
      // If a user types other days, the edges are elsewhere.
      handle.hidden = change.hidden = edge.days !== days(edge.field) || !(x >= 0 && x <= span);
      handle.style.left = `${100 * x / span}%`;
      handle.dataset.time = clock(now);
      const aria = { valuemin: least, valuemax: most, valuenow: now, valuetext: clock(now) };
      for (const name in aria) handle.setAttribute(`aria-${name}`, aria[name]);
      change.className = `change ${x < edge.drawn === edge.isStart ? "more" : "less"}`;
      change.style.left = `${100 * Math.min(x, edge.drawn) / span}%`;
      change.style.width = `${100 * Math.abs(x - edge.drawn) / span}%`;
    }
    // The button applies the schedule that was previewed.
    const isEdited = [...fields.querySelectorAll("input")].some((input) => input.value !== input.defaultValue);
    for (const button of document.querySelectorAll(".acts button")) button.disabled = isEdited;
    week.closest("tr").classList.toggle("edited", isEdited);
  }

  const edges = week.dataset.edges.split(" ").map((data) => {
    const [name, at, midnight] = data.split(",");
    const field = fields.querySelector(`[name=${name}]`), isWindow = name === "hours";
    const edge = { field, at: +at, midnight: +midnight, isWindow, isStart: isWindow ? at % 2 === 0 : name === "start", days: days(field) };
    edge.change = week.appendChild(document.createElement("span"));
    const handle = edge.handle = week.appendChild(document.createElement("span"));
    handle.className = `edge ${name}${at}`;
    // A time has an edge on each of its days, but one stop of the Tab key.
    if (week.querySelector(`.${name}${at}`) === handle) {
      handle.tabIndex = 0;
      handle.role = "slider";
      handle.ariaLabel = edge.isStart ? "Start" : "Stop";
    } else {
      handle.ariaHidden = "true";
    }
    handle.onpointerdown = (down) => {
      const from = minutes(edge);
      handle.setPointerCapture(down.pointerId);
      handle.onpointermove = (to) => move(edge, from + (to.clientX - down.clientX) / week.clientWidth * span);
      handle.onlostpointercapture = () => { handle.onpointermove = null; };
    };
    handle.onkeydown = (down) => {
      const by = { ArrowLeft: -STEP, ArrowDown: -STEP, ArrowRight: STEP, ArrowUp: STEP }[down.key];
      if (!by) return;
      down.preventDefault();
      move(edge, minutes(edge) + by);
    };
    return edge;
  });
  fields.addEventListener("input", show);
  for (const hint of document.querySelectorAll(".drag")) hint.hidden = false;
  show();
}
