// Makes small models as Hugging Face folders, with a byte-pair tokenizer that is trained for them
// and random weights; and a server of their files that can misbehave.
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { modelFiles } from '../src/model/hf/write_model.ts'
import { type ModelType, modelShape } from '../src/model/layout/config.ts'
import { initialWeights, paramLayout } from '../src/model/layout/params.ts'
import { loadTokenizer } from '../src/tasks/tokenizers/load_tokenizer.ts'
import { trainBpe } from '../src/tasks/tokenizers/train_bpe.ts'

const TEXTS = ['the cat sat on the mat', 'the dog and the cat ran to the mat', 'a cat is a cat']

/** One that makes a conversation of a message, as the lab's own does not. */
const CHAT_TEMPLATE =
  '{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}'

const EMBEDDING_SCALE = 16

/** Writes a model of two layers into a new folder; returns the folder. */
export async function tinyModel(model_type: ModelType, seed = 1): Promise<string> {
  const files = trainBpe(TEXTS, { vocab_size: 280 })
  if (!files) throw new Error('no tokenizer')
  const vocabulary = await loadTokenizer({ ...files, 'chat_template.jinja': CHAT_TEMPLATE })
  const config = {
    model_type,
    vocab_size: vocabulary.vocab_size,
    hidden_size: 32,
    intermediate_size: 64,
    num_hidden_layers: 2,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    head_dim: 8,
    rms_norm_eps: 1e-6,
    rope_theta: 10_000,
    tie_word_embeddings: model_type !== 'llama',
  }
  const layout = paramLayout(modelShape(config))
  const weights = initialWeights(layout, seed)
  // With an embedding as small as a fresh one no frozen head could prefer any token by much,
  // whatever an adapter learns.
  const { offset, size } = layout.params[0]
  for (let i = offset; i < offset + size; i++) weights[i] *= EMBEDDING_SCALE
  const folder = join(mkdtempSync(join(tmpdir(), 'understory-models-')), `tiny-${model_type}`)
  mkdirSync(folder)
  const written = { config, layout, weights, vocabulary, max_position_embeddings: 128 }
  for (const { path, pieces } of modelFiles(written))
    writeFileSync(join(folder, path), Buffer.concat([...pieces]))
  return folder
}

/** By the first part of the path: how the server behaves. */
type Manner = 'good' | 'noranges' | 'nocors' | 'cut' | 'stall' | 'stop' | 'away' | 'empty'

export interface ModelServer {
  readonly origin: string
  /** Path and Range of every request. */
  readonly asked: { readonly path: string; readonly range: string | undefined }[]
  close(): void
}

/** Serves the files of a folder below /good/, /noranges/, /nocors/, /cut/, /stall/ and /stop/
 * (which fall silent within the weights; each of the three once), /away/ (to another origin) and
 * none below /empty/. */
export async function serveModel(folder: string, elsewhere = ''): Promise<ModelServer> {
  const asked: { path: string; range: string | undefined }[] = []
  let wasCut = false
  const stalled = new Set<Manner>()
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? ''
    const range = request.headers.range
    asked.push({ path, range })
    const [, manner, name] = path.split('/') as [string, Manner, string]
    if (manner !== 'nocors') response.setHeader('Access-Control-Allow-Origin', '*')
    response.setHeader('Access-Control-Expose-Headers', 'Content-Range')
    if (manner === 'away')
      return response.writeHead(302, { Location: `${elsewhere}/good/${name}` }).end()
    let bytes: Buffer
    try {
      if (manner === 'empty') throw new Error('nothing here')
      bytes = readFileSync(join(folder, name))
    } catch {
      return response.writeHead(404).end()
    }
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? []
    if (first === undefined || manner === 'noranges')
      return response.writeHead(200, { 'Content-Length': bytes.length }).end(bytes)
    const [begin, end] = [Number(first), Math.min(bytes.length, Number(last) + 1)]
    response.writeHead(206, {
      'Content-Length': end - begin,
      'Content-Range': `bytes ${begin}-${end - 1}/${bytes.length}`,
    })
    const stalls = (manner === 'stall' || manner === 'stop') && !stalled.has(manner)
    if (stalls && end - begin > 2000 && name.endsWith('.safetensors')) {
      stalled.add(manner)
      return response.write(bytes.subarray(begin, begin + 1000))
    }
    if (manner !== 'cut' || wasCut || end - begin < 2000)
      return response.end(bytes.subarray(begin, end))
    wasCut = true
    response.write(bytes.subarray(begin, begin + 1000), () =>
      setTimeout(() => response.destroy(), 200),
    )
  }
  const server: Server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  return { origin: `http://127.0.0.1:${port}`, asked, close: () => server.close() }
}
