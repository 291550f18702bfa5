// The menu of all pages closes by Escape, and by a click elsewhere.
const menu = document.getElementById("all-pages");
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !menu.open) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});
document.addEventListener("click", (event) => {
  if (!menu.contains(event.target)) menu.open = false;
});
