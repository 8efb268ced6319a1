// Names, by its first bytes, a file that nothing here reads.

/** What a file is that nothing here reads, and what to do; undefined where it may be read. */
export async function foreignProblem(file: File): Promise<string | undefined> {
  // A first visit brings no file.
  const { foreignFile, foreignWords, HEAD_BYTES } = await import('../../formats/first_bytes.ts')
  const head = new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer())
  const found = foreignFile(head, file.size)
  return found && `It is ${foreignWords(found)}.`
}

/** Weights as other programs keep them. */
const WEIGHTS = /\.(gguf|bin|pt|pth|onnx|h5|safetensors)$/i

/** The same of a folder that is no model: of its first file of weights. */
export async function foreignWeights(files: readonly File[]): Promise<string | undefined> {
  for (const file of files.filter(({ name }) => WEIGHTS.test(name))) {
    const problem = await foreignProblem(file)
    if (problem !== undefined) return `${file.name}: ${problem}`
  }
  return undefined
}
