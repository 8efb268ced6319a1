// Keeps the files of steering vectors that runs begin with, known to this process by their hash.
import type { ContentFile } from '../../document/content/content.ts'

const files = new Map<string, ContentFile>()

/** Makes a file known under its hash. */
export function loadVectors(file: ContentFile): void {
  files.set(file.hash, file)
}

/** The file of a hash; undefined where nobody has loaded it. */
export const vectorFile = (hash: string): ContentFile | undefined => files.get(hash)
