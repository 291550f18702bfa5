// Close the menu of all pages on Escape and on a click outside of it.
const menu = document.getElementById("all-pages");
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !menu.open) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});
document.addEventListener("click", (event) => {
  if (!menu.contains(event.target)) menu.open = false;
});
