for (const table of document.querySelectorAll("table.sortable"))
  table.querySelectorAll("thead th").forEach((head, column) =>
    head.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") !== "descending";
      for (const other of head.parentNode.children) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const value = (row) => {
        const cell = row.children[column];
        return head.classList.contains("num") ? Number(cell.dataset.v ?? -Infinity) : cell.textContent;
      };
      const body = table.tBodies[0];
      [...body.rows]
        .map((row) => [value(row), row])
        .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0) * (down ? -1 : 1))
        .forEach(([, row]) => body.append(row));
    }),
  );
