"use strict";
const byId = (id) => document.getElementById(id);
const articles = [...document.querySelectorAll("article")];
const answers = articles.filter((article) => article.matches(".a:not(.void)"));

// a link may lead to an entry that a filter hides
function follow() {
  const target = byId(location.hash.slice(1));
  if (!target) return;
  if (getComputedStyle(target).display === "none") {
    byId("f-all").checked = true;
    byId("find").value = "";
    find();
  }
  target.tabIndex = -1;
  target.scrollIntoView({ block: target.localName === "h2" ? "start" : "center" });
  target.focus({ preventScroll: true });
  if (answers.includes(target)) point(answers.indexOf(target));
}
addEventListener("hashchange", follow);
// the same link again changes no address
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#']");
  if (link && link.getAttribute("href") === location.hash) follow();
});

// one request is pointed at: by the slider, by the mouse, or because a link led to it
const pictures = [...document.querySelectorAll("svg.picture")];
const slider = byId("at");
const there = byId("there");
function point(index) {
  const entry = answers[index];
  if (!entry) return;
  for (const picture of pictures) {
    const [hit, cursor] = [".hit", ".cursor"].map((name) => picture.querySelector(name));
    const step = hit.width.baseVal.value / answers.length;
    cursor.setAttribute("x", hit.x.baseVal.value + step * index);
    cursor.setAttribute("width", Math.max(step, 2));
  }
  const text = (selector) => [...entry.querySelectorAll(selector)].map((part) => part.textContent.trim());
  const said = [...text("summary:has(code)"), ...text(".t")].join(" · ").slice(0, 200);
  there.textContent = `${text("p.m")[0].replace(/^assistant · r/, "R")}${said ? ` — ${said}` : ""}`;
  there.href = `#${entry.id}`;
  slider.value = index + 1;
  slider.setAttribute("aria-valuetext", there.textContent);
}
slider.addEventListener("input", () => point(slider.value - 1));

// the request under the mouse, and a click leads to it
for (const picture of pictures) {
  const under = (event) => {
    const place = picture.querySelector(".hit").getBoundingClientRect();
    const part = (event.clientX - place.left) / place.width;
    return part < 0 || part > 1 ? -1 : Math.min(Math.floor(part * answers.length), answers.length - 1);
  };
  picture.addEventListener("pointermove", (event) => point(under(event)));
  picture.addEventListener("click", (event) => {
    const entry = event.target.closest("a") ? null : answers[under(event)];
    if (!entry) return;
    if (location.hash === `#${entry.id}`) follow();
    else location.hash = entry.id;
  });
}

let texts;
function find() {
  const wanted = byId("find").value.trim().toLowerCase();
  if (wanted) texts ??= articles.map((article) => article.textContent.toLowerCase());
  let found = 0;
  articles.forEach((article, index) => {
    const miss = wanted !== "" && !texts[index].includes(wanted);
    article.classList.toggle("miss", miss);
    found += !miss;
  });
  document.querySelector("output").textContent = wanted ? `${found} found` : "";
}
byId("find").addEventListener("input", find);
document.querySelector(".find").hidden = false;
document.querySelector(".at").hidden = answers.length === 0;
point(answers.length - 1);
follow();
