// Recognises a file by its first bytes, whatever its name says, so that weights, tokenizers and
// data files of another kind are refused by name.

/** A file that is no weights, no JSON and no rows: what it is, and what to do. */
export interface ForeignFile {
  readonly what: string
  readonly remedy: string
  /** A path alone, which may be a plain text of a person's own. */
  readonly isPath?: true
}

/** Bytes from the beginning of a file that are enough to tell. */
export const HEAD_BYTES = 1024

/** What transformers does for weights that are no safetensors. */
export const CONVERT =
  'convert it to safetensors with transformers (AutoModelForCausalLM.from_pretrained(DIR).save_pretrained(OUT)), or download the safetensors from the Hub'
const OTHER = 'choose another file'
const UNPACK = 'unpack it first'
const DOWNLOAD = 'download the file itself (on the Hub: the “raw” or “resolve” address)'

type Magic = readonly [start: readonly number[] | string, what: string, remedy: string]

/** Formats by their first bytes. */
const MAGICS: readonly Magic[] = [
  ['GGUF', 'a GGUF file (llama.cpp)', ggufRemedy()],
  ...['tjgg', 'lmgg', 'fmgg', 'algg'].map(
    (start): Magic => [start, 'an old GGML file (llama.cpp)', ggufRemedy()],
  ),
  [[0x89, 0x48, 0x44, 0x46], 'an HDF5 file (Keras, TensorFlow)', CONVERT],
  [[0x93, ...codes('NUMPY')], 'a NumPy array (.npy)', 'save it in the format that is expected'],
  [[0x1f, 0x8b], 'compressed with gzip', UNPACK],
  [[0x28, 0xb5, 0x2f, 0xfd], 'compressed with zstd', UNPACK],
  [[0x42, 0x5a, 0x68], 'compressed with bzip2', UNPACK],
  [[0xfd, 0x37, 0x7a, 0x58, 0x5a], 'compressed with xz', UNPACK],
  [[0x37, 0x7a, 0xbc, 0xaf], 'a 7z archive', UNPACK],
  ['Rar!', 'a RAR archive', UNPACK],
  ['%PDF', 'a PDF', OTHER],
  ['ARROW1', 'an Arrow file', 'save it as Parquet'],
  ['SQLite format 3', 'an SQLite database', 'save the table as CSV'],
  [[0xd0, 0xcf, 0x11, 0xe0], 'an old Office file', 'save the sheet as CSV'],
  ...[[0x89, 0x50, 0x4e, 0x47], [0xff, 0xd8, 0xff], 'GIF8', 'II*\0', 'MM\0*'].map(
    (start): Magic => [start, 'an image', OTHER],
  ),
  ['RIFF', 'an image, a sound or a film', OTHER],
  ['OggS', 'a sound or a film', OTHER],
  ['ID3', 'a sound', OTHER],
  ['fLaC', 'a sound', OTHER],
]

function ggufRemedy(): string {
  return 'take the safetensors of the model from the Hub, or convert it with transformers (from_pretrained(DIR, gguf_file=NAME).save_pretrained(OUT))'
}

function codes(text: string): number[] {
  return [...text].map((c) => c.charCodeAt(0))
}

const beginsWith = (bytes: Uint8Array, start: readonly number[] | string): boolean =>
  (typeof start === 'string' ? codes(start) : start).every((byte, i) => bytes[i] === byte)

const PARQUET = 'PAR1'
export const isParquet = (bytes: Uint8Array): boolean => beginsWith(bytes, PARQUET)

/** What a file is that begins with these bytes (HEAD_BYTES of it or more); undefined where it may
 * be what is expected. */
export function foreignFile(head: Uint8Array, size = head.length): ForeignFile | undefined {
  if (size === 0) return { what: 'an empty file', remedy: 'download or copy it again' }
  return archive(head) ?? pickled(head) ?? known(head) ?? page(head) ?? pointer(head, size)
}

/** The same of a file that was read as text: its bytes that are no UTF-8 are lost, so some archives
 * can only be called binary. */
export function foreignText(text: string): ForeignFile | undefined {
  const head = new TextEncoder().encode(text.slice(0, HEAD_BYTES))
  const found = foreignFile(head, text.length)
  if (found || !/[\0\ufffd]/.test(text.slice(0, HEAD_BYTES))) return found
  return { what: 'binary data', remedy: DOWNLOAD }
}

/** What it is, then what to do: the end of an error. */
export const foreignWords = ({ what, remedy }: ForeignFile): string => `${what}; ${remedy}`

function known(head: Uint8Array): ForeignFile | undefined {
  const found = MAGICS.find(([start]) => beginsWith(head, start))
  if (found) return { what: found[1], remedy: found[2] }
  if (beginsWith(head.subarray(4), 'ftyp')) return { what: 'an image or a film', remedy: OTHER }
  if (beginsWith(head.subarray(257), 'ustar')) return { what: 'a tar archive', remedy: UNPACK }
  return isOnnx(head) ? { what: 'an ONNX model', remedy: CONVERT } : undefined
}

/** Protocol buffers: the version of the format in field 1, then another field of ModelProto. */
const ONNX_FIELDS = [0x12, 0x1a, 0x22, 0x28, 0x32, 0x3a, 0x42]
const isOnnx = ([field, version, next]: Uint8Array): boolean =>
  field === 8 && version > 0 && version < 32 && ONNX_FIELDS.includes(next)

/** torch.save writes a zip whose first file is data.pkl, and wrote a pickle before PyTorch 1.6. */
function archive(head: Uint8Array): ForeignFile | undefined {
  if (!beginsWith(head, [0x50, 0x4b]) || ![1, 3, 5, 7].includes(head[2])) return undefined
  const length = head[26] + 256 * head[27]
  const first = String.fromCharCode(...head.subarray(30, 30 + Math.min(length, 200)))
  if (/(^|\/)(data\.pkl|\.format_version|version|byteorder)$/.test(first)) return TORCH
  return {
    what: 'a zip archive (so are .xlsx and .docx)',
    remedy: 'unpack it, or save the sheet as CSV',
  }
}

const TORCH: ForeignFile = { what: 'weights of PyTorch (.bin, .pt, .pth)', remedy: CONVERT }

const pickled = (head: Uint8Array): ForeignFile | undefined =>
  head[0] === 0x80 && head[1] >= 2 && head[1] <= 5
    ? { ...TORCH, what: 'a Python pickle, such as weights of PyTorch (.bin, .pt, .pth)' }
    : undefined

/** Git LFS, Xet and git-annex put a small text in the place of a file; git and copies put the path
 * that a link has. */
function pointer(head: Uint8Array, size: number): ForeignFile | undefined {
  const text = new TextDecoder().decode(head)
  if (/^(\ufeff)?version https:\/\/(git-lfs\.github\.com|hawser\.github\.com)\/spec/.test(text)) {
    const bytes = /^size (\d+)/m.exec(text)?.[1]
    const of = bytes === undefined ? '' : ` of ${bytes} bytes`
    return {
      what: `a Git LFS pointer in place of the file${of}`,
      remedy:
        'run `git lfs pull` in its repository, or download the file from the Hub (`hf download OWNER/NAME`)',
    }
  }
  if (/^# xet version/.test(text))
    return {
      what: 'a Xet pointer in place of the file',
      remedy: 'download the file from the Hub (`hf download OWNER/NAME`)',
    }
  const path = text.trim()
  if (size > HEAD_BYTES || !isPath(path)) return undefined
  const shown = path.length > 60 ? `${path.slice(0, 60)}…` : path
  return {
    isPath: true,
    what: `a path as text (${shown}), as a link is when it is copied`,
    remedy: path.includes('annex/objects')
      ? 'run `git annex get` in its repository'
      : 'copy the file that it leads to (`cp -L`), or download it from the Hub (`hf download OWNER/NAME`)',
  }
}

/** One word with a separator: a relative or absolute path of Unix or Windows. */
const isPath = (text: string): boolean =>
  /^[^\s{}[\]"'<>,;|\p{Cc}\ufffd]*[/\\][^\s{}[\]"'<>,;|:\p{Cc}\ufffd]+$/u.test(text) &&
  !/^[a-z]+:\/\//.test(text)

/** A web page, or the XML of a storage that refuses. */
function page(head: Uint8Array): ForeignFile | undefined {
  const text = new TextDecoder().decode(head)
  if (/^\ufeff?\s*(<!--.*?-->\s*)*<(!doctype html|html|head|body|title|meta)\b/is.test(text))
    return { what: 'a web page', remedy: DOWNLOAD }
  return /^\ufeff?\s*<\?xml/i.test(text) ? { what: 'an XML text', remedy: DOWNLOAD } : undefined
}
