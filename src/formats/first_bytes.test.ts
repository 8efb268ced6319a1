import { describe, expect, test } from 'vitest'
import { foreignFile, foreignText, foreignWords } from './first_bytes.ts'

const bytes = (...parts: readonly (number | string)[]) =>
  Uint8Array.from(
    parts.flatMap((part) =>
      typeof part === 'number' ? [part] : [...new TextEncoder().encode(part)],
    ),
  )
const zip = (first: string) =>
  bytes('PK', 3, 4, ...Array<number>(22).fill(0), first.length, 0, 0, 0, first, 'PK')

const LFS = 'version https://git-lfs.github.com/spec/v1\noid sha256:4f1e\nsize 1063424\n'

describe('a file is named by its first bytes, with what to do', () => {
  test.for<[string, Uint8Array, RegExp]>([
    [
      'LFS',
      bytes(LFS),
      /^a Git LFS pointer in place of the file of 1063424 bytes; run `git lfs pull`/,
    ],
    ['LFS, CRLF', bytes(LFS.replaceAll('\n', '\r\n')), /a Git LFS pointer .* of 1063424 bytes/],
    ['old LFS', bytes('version https://hawser.github.com/spec/v1\n'), /a Git LFS pointer/],
    ['Xet', bytes('# xet version 0\nfilesize = 3\n'), /a Xet pointer.*hf download/],
    [
      'a link',
      bytes('../../blobs/4f1e3a7c5d2b'),
      /^a path as text \(\.\.\/\.\.\/blobs\/4f1e.*cp -L/,
    ],
    ['an absolute link', bytes('/data/models/a.safetensors\n'), /^a path as text/],
    ['a link of Windows', bytes('C:\\models\\a.safetensors'), /^a path as text/],
    ['git-annex', bytes('/annex/objects/SHA256E-s3--ab.bin\n'), /git annex get/],
    ['a page', bytes('<!doctype html><html>'), /^a web page; download the file itself/],
    ['a page after a comment', bytes('\n<!-- x -->\n<html lang="en">'), /^a web page/],
    ['an answer of a storage', bytes('<?xml version="1.0"?><Error>'), /^an XML text/],
    ['nothing', bytes(), /^an empty file/],
    ['torch.save', zip('archive/data.pkl'), /^weights of PyTorch.*save_pretrained/],
    ['torch.save under its own name', zip('pytorch_model/data.pkl'), /^weights of PyTorch/],
    ['old torch.save', bytes(0x80, 2, 0x8a, 0x0a), /a Python pickle.*save_pretrained/],
    ['pickle', bytes(0x80, 4, 0x95), /a Python pickle/],
    ['GGUF', bytes('GGUF', 3, 0, 0, 0), /^a GGUF file.*safetensors/],
    ['GGML', bytes('tjgg', 1, 0, 0, 0), /an old GGML file/],
    ['ONNX', bytes(8, 7, 0x12, 7, 'pytorch'), /^an ONNX model.*save_pretrained/],
    ['ONNX with an opset first', bytes(8, 8, 0x3a, 0x80), /^an ONNX model/],
    ['Keras', bytes(0x89, 'HDF\r\n'), /^an HDF5 file/],
    ['zip', zip('model.safetensors'), /^a zip archive.*unpack it/],
    ['an empty zip', bytes('PK', 5, 6), /^a zip archive/],
    ['gzip', bytes(0x1f, 0x8b, 8), /^compressed with gzip; unpack it first/],
    ['zstd', bytes(0x28, 0xb5, 0x2f, 0xfd), /zstd; unpack/],
    ['tar', bytes('model.safetensors', ...Array<number>(240).fill(0), 'ustar'), /^a tar archive/],
    ['npy', bytes(0x93, 'NUMPY'), /NumPy/],
    ['PNG', bytes(0x89, 'PNG\r\n'), /^an image; choose another file/],
    ['GIF', bytes('GIF89a'), /^an image/],
    ['TIFF', bytes('II*', 0), /^an image/],
    ['WebP', bytes('RIFF', 36, 0, 0, 0, 'WEBPVP8 '), /^an image, a sound or a film/],
    ['HEIC', bytes(0, 0, 0, 24, 'ftypheic'), /^an image or a film/],
    ['MP3', bytes('ID3', 4, 0), /^a sound/],
  ])('%s', ([, head, words]) => {
    const found = foreignFile(head)
    expect(found && foreignWords(found)).toMatch(words)
  })

  test.for<[string, Uint8Array]>([
    ['safetensors', bytes(64, 0, 0, 0, 0, 0, 0, 0, '{"a":{"dtype":"F32","shape":[1]')],
    ['a safetensors header of 2056 bytes', bytes(8, 8, 0, 0, 0, 0, 0, 0, '{"a":')],
    ['JSON', bytes('{"a": "../b"}')],
    ['a list', bytes('["a/b"]')],
    ['JSON lines', bytes('{"url":"https://x/y"}\n{"url":"z/w"}\n')],
    ['CSV', bytes('question,answer\n1/2,3\n')],
    ['text', bytes('either/or is what he said')],
    ['an address', bytes('https://huggingface.co/a/b')],
    ['Parquet', bytes('PAR1', 0x15)],
    ['TFEvents', bytes(24, 0, 0, 0, 0, 0, 0, 0, 0xa3)],
    ['a template', bytes("{% for m in messages %}<|{{ m['role'] }}|>{% endfor %}")],
  ])('%s is not', ([, head]) => expect(foreignFile(head)).toBeUndefined())

  test('a long text of one word is no path that a link has', () => {
    expect(foreignFile(bytes('a/'.repeat(400), 'b'), 100_000)).toBeUndefined()
  })

  test('a file that was read as text', () => {
    expect(foreignText(LFS)?.what).toMatch(/Git LFS/)
    expect(foreignText(new TextDecoder().decode(bytes(0x1f, 0x8b, 8, 0, 0xff)))?.what).toBe(
      'binary data',
    )
    expect(foreignText('{"a":1')).toBeUndefined()
  })
})
