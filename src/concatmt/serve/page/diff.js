// Which words of two translations differ: those outside their longest common subsequence.

export function differences(one, other) {
  const a = words(one), b = words(other);
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i][j] = a[i] === b[j]
        ? lengths[i + 1][j + 1] + 1
        : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
    }
  }
  const common = [new Set(), new Set()];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) {
      common[0].add(i++);
      common[1].add(j++);
    } else if (lengths[i + 1][j] >= lengths[i][j + 1]) i++;
    else j++;
  }
  return [parts(a, common[0]), parts(b, common[1])];
}

function words(text) {
  return text.match(/\s+|[\p{L}\p{N}'’-]+|[^\s\p{L}\p{N}]/gu) ?? [];
}

// Runs of text, each with whether it differs; a space between two words that differ belongs to them.
function parts(all, common) {
  const differs = all.map((word, i) => !common.has(i) && word.trim() !== "");
  all.forEach((word, i) => {
    if (!word.trim() && differs[i - 1] && differs[i + 1]) differs[i] = true;
  });
  const runs = [];
  all.forEach((word, i) => {
    const last = runs.at(-1);
    if (last && last.differs === differs[i]) last.text += word;
    else runs.push({ text: word, differs: differs[i] });
  });
  return runs;
}
