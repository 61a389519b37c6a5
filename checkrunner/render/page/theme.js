"use strict";
// Before anything is drawn: the colours that the reader chose last.
try {
  const chosen = localStorage.getItem("checkrunner-theme");
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
} catch {
  // No storage here: the system's colours.
}
