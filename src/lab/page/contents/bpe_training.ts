// Byte-pair encodings that the page has trained in a worker of their own.
import type { TrainBpe } from '../../../tasks/data/make_tokenizer.ts'
import type { TokenizerFiles } from '../../../tasks/tokenizers/hugging_face/tokenizer_files.ts'

export interface BpeRequest {
  readonly texts: readonly string[]
  readonly vocab_size: number
}

export type BpeReport =
  | { readonly kind: 'progress'; readonly share: number }
  | { readonly kind: 'done'; readonly files: TokenizerFiles }
  | { readonly kind: 'failed'; readonly problem: string }

/** What a person sees of a training, and how one ends it. */
export interface BpeWatch {
  readonly onProgress?: (share: number) => void
  readonly signal?: AbortSignal
}

/** Trains in a new worker, which ends with the training or with the signal. */
export const trainBpeInWorker =
  ({ onProgress, signal }: BpeWatch = {}): TrainBpe =>
  (texts, vocab_size) =>
    new Promise((resolve, reject) => {
      const worker = new Worker(new URL('./bpe_worker.ts', import.meta.url), { type: 'module' })
      const end = (settle: () => void) => {
        worker.terminate()
        settle()
      }
      const stop = () => end(() => reject(new Error('the training of the tokenizer was ended')))
      if (signal?.aborted) return stop()
      signal?.addEventListener('abort', stop, { once: true })
      worker.onerror = ({ message }) => end(() => reject(new Error(message)))
      worker.onmessage = ({ data }: MessageEvent<BpeReport>) => {
        if (data.kind === 'progress') onProgress?.(data.share)
        else if (data.kind === 'done') end(() => resolve(data.files))
        else end(() => reject(new Error(data.problem)))
      }
      worker.postMessage({ texts, vocab_size } satisfies BpeRequest)
    })
