// Live update and nothing else: a page works without this file. A change on disk makes the page read its own address
// again, and what is new is put into place; what somebody has typed, opened, selected or scrolled stays.
"use strict";
(() => {
  const main = document.querySelector("main"), live = document.querySelector(".live");
  if (!main || !live || !window.Idiomorph || main.dataset.status) return;

  const QUIET = 5000, AGAIN = 2000, DEAF = 40000; // milliseconds: between two messages, until a new try, without a beat
  const OUT = "The server was started again, and its address is a new one: open the address that it printed then, in this browser. This page goes on by itself after that.";
  const changed = new Set(); // ids that nobody was told of yet
  let teller = 0, lostAt = "", heardAt = Date.now(), isLive = false, isBehind = false, isReading = false, isAskedAgain = false; // one request at a time; a change during it asks for one more
  // What was typed, and what is kept.
  const FIELDS = "input, textarea, select";
  const byId = (id, where) => where.querySelector("#" + CSS.escape(id));

  function isTyped(field) {
    if (field.tagName === "SELECT") return field.selectedIndex !== Math.max(0, [...field.options].findIndex((each) => each.defaultSelected));
    if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
    return "defaultValue" in field && field.type !== "hidden" && field.value !== field.defaultValue;
  }

  // Drift is accepted as it was when somebody began to write why: what has changed since is told by the refusal.
  const isKept = (field) => isTyped(field) || (field.name === "tree" && [...field.form.elements].some(isTyped));
  const isMorphed = (old) => old.nodeType !== 1 || !old.matches(FIELDS) || !isKept(old);
  const isRemoved = (old) => old.nodeType !== 1 || ![old, ...old.querySelectorAll(FIELDS)].some(isTyped);
  const isSet = (name, node) => name !== "open" || node.tagName !== "DETAILS";
  const KEEPING = { beforeNodeMorphed: isMorphed, beforeNodeRemoved: isRemoved, beforeAttributeUpdated: isSet };

  // A text stays in its own form. Where that is gone it is told above, so that it gets into no other one.
  function rescue(fresh, sent) {
    for (const field of main.querySelectorAll("[data-for]")) {
      if (!isTyped(field) || byId(field.id, fresh)) continue;
      const textContent = field.dataset.for + " is not here any more. What you had typed: " + field.value;
      if (field.form !== sent) byId("kept", document).append(Object.assign(document.createElement("p"), { className: "box pad", textContent }));
      field.value = field.defaultValue;
    }
  }

  // Why a form was refused stays at it until the next try.
  function carry(fresh) {
    for (const told of main.querySelectorAll(".refused")) {
      const field = byId(told.dataset.at, fresh);
      field?.setAttribute("aria-describedby", told.id);
      field?.closest("form").before(told.cloneNode(true));
    }
  }

  // What is shown.
  function bar(text, isAllowed = true) {
    const told = byId("told", document);
    if (told.textContent !== text) told.textContent = text;
    told.hidden = !text;
    for (const button of main.querySelectorAll("form[method=post] button")) button.disabled = !isAllowed;
  }

  function tell() {
    if (teller || !changed.size) return;
    const more = changed.size > 3 ? " and " + (changed.size - 3) + " more" : "";
    live.textContent = [...changed].slice(0, 3).join(", ") + more + " changed";
    changed.clear();
    teller = setTimeout(() => { teller = 0; tell(); }, QUIET);
  }

  // What an answer to a form says: of the whole page it stands where no update reaches it.
  function look() {
    main.before(...main.querySelectorAll(".above"));
    const told = document.querySelector(".above, .refused");
    // What was given back was typed, though the document has it.
    for (const field of main.querySelectorAll("[aria-invalid]")) [field.defaultValue, field.value] = ["", field.value];
    if (!told) return false;
    for (let each = told; each; each = each.parentElement.closest("details")) each.open = true;
    if (told.dataset.at) byId(told.dataset.at, main).setAttribute("aria-describedby", told.id);
    told.focus({ preventScroll: true });
    told.scrollIntoView({ block: "center" });
    return true;
  }

  function show(text, sent) {
    const page = new DOMParser().parseFromString(text, "text/html"), fresh = page.querySelector("main");
    if (!fresh || fresh.dataset.status) return false;
    bar("");
    for (const each of fresh.querySelectorAll("[autofocus]")) each.removeAttribute("autofocus"); // done by `look`
    if (sent) for (const each of [...document.querySelectorAll(".refused, .above"), sent.elements.tree]) each?.remove();
    carry(fresh);
    rescue(fresh, sent);
    const before = new Map([...main.querySelectorAll("li, .card")].map((each) => [each, each.textContent]));
    for (const part of ["main", ".top nav", ".foot"]) Idiomorph.morph(document.querySelector(part), page.querySelector(part), { callbacks: KEEPING });
    document.title = page.title;
    const isFresh = ([each, old]) => old !== each.textContent && changed.has(each.querySelector(".id")?.textContent.trim());
    for (const [each] of [...before].filter(isFresh)) each.classList.add("fresh");
    return true;
  }

  // Reading, and writing: as without script, but the page stays.
  async function read() {
    isAskedAgain = isReading;
    if (isReading) return;
    [isReading, isBehind] = [true, false];
    try {
      const answer = await fetch(location.href.split("#")[0], { headers: { Accept: "text/html" } });
      const text = await answer.text();
      if (main.querySelector("[aria-busy]")) isBehind = true; // what a form is answered comes first
      else if (answer.status === 401) bar(OUT);
      else if (answer.status === 404) bar("What this page shows is gone. It is left as it was; nothing can be written any more.", false);
      else if (!answer.ok || !show(text)) bar("The server cannot show this page now. It is left as it was; nothing can be written.", false);
      tell();
    } catch {
      lost();
    } finally {
      isReading = false;
      if (isAskedAgain) read();
    }
  }

  async function send(form, button) {
    const body = new URLSearchParams(new FormData(form, button));
    form.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(form.action, { method: "POST", body, headers: { "X-Taskstate-Token": body.get("token") } });
      const text = await answer.text();
      if (answer.redirected && answer.ok) form.reset(); // what was typed is written
      if (answer.status === 401) bar(OUT);
      else if (!show(text, form)) bar(new DOMParser().parseFromString(text, "text/html").body.textContent.trim());
      else if (!look() && !form.isConnected) main.focus();
    } catch {
      bar("The server does not answer; what you typed is still here.");
    } finally {
      form.removeAttribute("aria-busy");
      if (isBehind) read();
    }
  }

  document.addEventListener("submit", (event) => {
    if (event.target.method === "post") event.preventDefault();
    if (event.defaultPrevented && !event.target.hasAttribute("aria-busy")) send(event.target, event.submitter);
  });
  // Listening: a browser has six connections to a host, for all tabs. So the one that has the lock hears, and tells the
  // others. Where there are no locks each hears by itself, while somebody looks.
  const channel = navigator.locks && new BroadcastChannel("taskstate");
  let stream = null, leave = null; // `leave` gives the lock back; who has it is to hear

  function deafen() {
    if (stream) stream.close();
    [stream, isLive] = [null, false];
  }

  function lost(isOut) {
    [isLive, lostAt] = [false, lostAt || new Date().toTimeString().slice(0, 5)];
    live.classList.add("off");
    live.textContent = "not live since " + lostAt + ", trying again";
    if (isOut) bar(OUT);
  }

  function hear() {
    stream = new EventSource("/events");
    stream.addEventListener("changed", (event) => say("changed", event.data));
    stream.addEventListener("beat", () => say("beat"));
    stream.onerror = () => {
      deafen();
      fetch("/assets/icon.svg", { cache: "no-store" }).then((answer) => say("lost", answer.status === 401), () => say("lost"));
    };
  }

  function heard({ kind, text }) {
    if (kind === "ask") return leave && (stream ? isLive && say("beat") : hear());
    if (kind === "lost") return lost(text);
    isBehind = isBehind || !isLive || kind === "changed";
    if (!isLive) live.textContent = "live"; // the first one comes when the files are watched
    live.classList.remove("off");
    [heardAt, isLive, lostAt] = [Date.now(), true, ""];
    for (const id of (text || "").split(" ")) if (id) changed.add(id);
    if (isBehind && !document.hidden) read();
  }

  function say(kind, text) {
    if (channel) channel.postMessage({ kind, text });
    heard({ kind, text });
  }

  function join() {
    if (channel) navigator.locks.request("taskstate", () => new Promise((done) => { leave = done; hear(); }));
    else leave = document.hidden ? deafen() : deafen;
    say("ask");
  }

  setInterval(() => {
    if (Date.now() - heardAt > DEAF) { deafen(); lost(); }
    if (!isLive) say("ask");
  }, AGAIN);
  if (channel) channel.onmessage = (event) => heard(event.data);
  document.addEventListener("visibilitychange", () => (!channel ? join() : isBehind && !document.hidden && read()));
  window.addEventListener("pagehide", () => { deafen(); if (leave) leave(); });
  window.addEventListener("pageshow", (event) => event.persisted && join());

  const address = new URL(main.dataset.here || location.href, location.href); // that of an answer to a form is no page
  for (const name of ["done", "of"]) address.searchParams.delete(name);
  if (address.href !== location.href) history.replaceState(null, "", address);
  look();
  join();
})();
