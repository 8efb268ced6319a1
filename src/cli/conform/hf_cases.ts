// Hugging Face model folders: config.json, model.safetensors and expected.safetensors, with critic and reward models.
import type { Context } from './fixture.ts'
import type { Check } from './report.ts'

/** The checks of one model folder. It yields none yet; conform says `later` for a folder without any. */
export async function* hfCase(_folder: string, _context: Context): AsyncGenerator<Check> {}
