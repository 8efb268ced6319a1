// Trains a byte-pair encoding beside the page, which goes on answering. One message in, shares of the work and the result out.
import { trainBpe } from '../../../tasks/tokenizers/train_bpe.ts'
import type { BpeReport, BpeRequest } from './bpe_training.ts'

const tell = (report: BpeReport) => postMessage(report)

addEventListener('message', ({ data: { texts, vocab_size } }: MessageEvent<BpeRequest>) => {
  try {
    const onProgress = (share: number) => {
      tell({ kind: 'progress', share })
      return true
    }
    const files = trainBpe(texts, { vocab_size, onProgress })
    if (files) tell({ kind: 'done', files })
  } catch (error) {
    tell({ kind: 'failed', problem: error instanceof Error ? error.message : `${error}` })
  }
})
