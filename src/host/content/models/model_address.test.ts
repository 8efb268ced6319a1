import { expect, test } from 'vitest'
import { modelAddress } from './model_address.ts'

test('a name on the Hub has its listing, its files and the places that it may be fetched from', () => {
  for (const typed of ['HuggingFaceTB/SmolLM2-135M', ' hf:HuggingFaceTB/SmolLM2-135M@main '])
    expect(modelAddress(typed)).toMatchObject({
      source: 'hf:HuggingFaceTB/SmolLM2-135M@main',
      name: 'HuggingFaceTB/SmolLM2-135M',
      origins: ['https://huggingface.co', 'https://*.hf.co'],
      listing:
        'https://huggingface.co/api/models/HuggingFaceTB/SmolLM2-135M/tree/main?recursive=true',
    })
  const pinned = modelAddress('Qwen/Qwen3-0.6B@refs/pr/1')
  expect(pinned.fileAt('config.json')).toBe(
    'https://huggingface.co/Qwen/Qwen3-0.6B/resolve/refs%2Fpr%2F1/config.json',
  )
  expect(modelAddress('https://huggingface.co/Qwen/Qwen3-0.6B/tree/main').source).toBe(
    'hf:Qwen/Qwen3-0.6B@main',
  )
})

test('an address is a folder, or a file in one', () => {
  for (const typed of [
    'https://a.example:8443/models/tiny',
    'https://a.example:8443/models/tiny/',
    'https://a.example:8443/models/tiny/config.json',
  ])
    expect(modelAddress(typed)).toMatchObject({
      source: 'https://a.example:8443/models/tiny/',
      name: 'tiny',
      origins: ['https://a.example:8443'],
      listing: undefined,
    })
  expect(modelAddress('https://a.example/m?sig=1').fileAt('x')).toBe('https://a.example/m/x?sig=1')
  expect(modelAddress('http://[::1]:9/').name).toBe('1')
  expect(modelAddress('https://a.example').name).toBe('a.example')
  expect(modelAddress('http://127.0.0.1:9/m/').origins).toEqual(['http://127.0.0.1:9'])
})

test.for([
  ['', /is no model\. Type a name such as/],
  ['a model', /is no model/],
  ['http://a.example/m', /from https:\/\/ alone, found http:/],
  ['file:///etc/passwd', /found file:/],
  ['javascript:alert(1)', /found javascript:/],
  ['https://me:secret@a.example/m', /holds a password/],
  ['https://a.example/is%20safe%3F%20Press%20Allow', /letters, digits, .* found "is%20safe/],
  ['https://a.example/m\u202e', /letters, digits/],
  ['https://a.example/%E2%80%AEmoc.dab', /letters, digits/],
  ['https://a.example/%zz', /letters, digits/],
  [`https://a.example/${'x'.repeat(97)}/`, /at most 96 letters/],
  ['../..', /is no name on the Hub/],
  ['a/b@../../x', /is no name on the Hub/],
] as const)('%s is refused', ([typed, message]) => {
  expect(() => modelAddress(typed)).toThrow(message)
})
