// Tables sort by a click on a column's head; a cell's data-v is what it sorts by. Without script all else works.
for (const table of document.querySelectorAll("table.sorts")) {
  table.querySelectorAll("thead th").forEach((head, column) => {
    if (!head.textContent.trim()) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") !== "descending";
      for (const other of head.parentNode.children) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const value = (row) => {
        const cell = row.children[column];
        return cell ? (cell.dataset.v ?? cell.textContent.trim()) : "";
      };
      const compare = (a, b) => {
        const [x, y] = [value(a), value(b)];
        const [p, q] = [Number(x), Number(y)];
        const both = x !== "" && y !== "" && !Number.isNaN(p) && !Number.isNaN(q);
        return (both ? p - q : x.localeCompare(y)) * (down ? -1 : 1);
      };
      const body = table.tBodies[0];
      body.append(...[...body.rows].sort(compare));
    });
  });
}
