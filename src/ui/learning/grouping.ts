// Puts samples in order for reading.

/** Responses by prompt, both in the order they came. */
export function groupByPrompt<T extends { readonly prompt: string }>(
  samples: readonly T[],
): [string, T[]][] {
  const groups = new Map<string, T[]>()
  for (const sample of samples) {
    const group = groups.get(sample.prompt)
    if (group) group.push(sample)
    else groups.set(sample.prompt, [sample])
  }
  return [...groups]
}
