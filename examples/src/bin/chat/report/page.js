"use strict";
// a link may lead to an entry that the filter hides
function follow() {
  const target = document.getElementById(location.hash.slice(1));
  if (!target) return;
  if (getComputedStyle(target).display === "none") document.getElementById("f-all").checked = true;
  target.tabIndex = -1;
  target.scrollIntoView({ block: "center" });
  target.focus({ preventScroll: true });
}
addEventListener("hashchange", follow);
// the same link again changes no address
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#e']");
  if (link && link.getAttribute("href") === location.hash) follow();
});
follow();

// a click into the picture leads to the request below it
const hit = document.querySelector(".hit");
hit.parentElement.addEventListener("click", (event) => {
  const place = hit.getBoundingClientRect();
  const part = (event.clientX - place.left) / place.width;
  if (event.target.closest("a") || part < 0 || part > 1) return;
  const index = Math.min(Math.floor(part * hit.dataset.requests), hit.dataset.requests - 1);
  const entry = document.querySelectorAll("article.a:not(.void)")[index];
  if (entry) location.hash = entry.id;
});
