/**
 * The theme: system, light or dark. A classic script in the head, so that the choice stands before
 * the first paint; the buttons come to life once the page is parsed.
 */
(function () {
  "use strict";
  const KEY = "boba-theme";
  const root = document.documentElement;

  /** @returns {"system" | "light" | "dark"} */
  function chosen() {
    try {
      const value = localStorage.getItem(KEY);
      return value === "light" || value === "dark" ? value : "system";
    } catch {
      return "system";
    }
  }

  /** @param {string} theme */
  function apply(theme) {
    if (theme === "system") delete root.dataset.theme;
    else root.dataset.theme = theme;
    for (const button of document.querySelectorAll("[data-theme-choice]")) {
      button.setAttribute("aria-pressed", String(button.getAttribute("data-theme-choice") === theme));
    }
  }

  /** @param {string} theme */
  function choose(theme) {
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // Storage may be off; the choice then lasts as long as the page.
    }
    apply(theme);
    root.dispatchEvent(new CustomEvent("boba:theme", { bubbles: true }));
  }

  apply(chosen());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    root.dispatchEvent(new CustomEvent("boba:theme", { bubbles: true }));
  });
  document.addEventListener("DOMContentLoaded", () => {
    apply(chosen());
    document.addEventListener("click", (event) => {
      const target = /** @type {Element} */ (event.target);
      const button = target.closest("[data-theme-choice]");
      if (button) choose(button.getAttribute("data-theme-choice") || "system");
      for (const menu of document.querySelectorAll("details.menu[open]")) {
        if (!menu.contains(target)) menu.removeAttribute("open");
      }
    });
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      for (const menu of document.querySelectorAll("details.menu[open]")) {
        menu.removeAttribute("open");
        menu.querySelector("summary")?.focus();
      }
    });
  });
})();
