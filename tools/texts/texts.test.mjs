import { expect, test } from 'vitest'
import { compare, readCatalogues, readPage } from './catalogues.mjs'
import { textsIn } from './read_texts.mjs'

const texts = (source, file = 'src/ui/a.tsx') => textsIn(file, source).map(({ text }) => text)

test('the texts of elements are found with their holes, and code is not', () => {
  const source = `const a = <p className="soft card">Step {step} of <b>all the steps</b>.</p>
const b = <button title="Save it" data-testid="save-it"><Icon /> {busy ? 'Saving …' : 'Save'}</button>
const c = <code>let me be</code>
const d = <Formula tex="\\frac{a b}{c}" />`
  expect(texts(source)).toEqual([
    'Step {0} of {1}.',
    'all the steps',
    'Save it',
    'Saving …',
    'Save',
  ])
})

test('every way to say a text is found', () => {
  const source = `const a = (n) => n + (n === 1 ? ' run' : ' runs') + ' of ' + (n > 2 ? 'many' : 'few')`
  expect(texts(source)).toEqual([
    '{0} run of many',
    '{0} run of few',
    '{0} runs of many',
    '{0} runs of few',
  ])
})

test('errors and helps are found; names, patterns and what is compared are not', () => {
  const source = `import { x } from './some file.ts'
const field = { kind: 'two words', help: 'What a token is.', path: 'a b c', [x]: 1 }
if (x === 'not this one') throw new RangeError('lr: expected a number, got ' + x)
text.split('and so on')
new RegExp('one two three')`
  expect(texts(source, 'src/rl/a.ts')).toEqual([
    'What a token is.',
    'lr: expected a number, got {0}',
  ])
})

test('a field that a call makes says what it is, whatever the field is called', () => {
  const source = `const fields = { source: hashField('Begins with', 'The hash of the model.'), dtype: 'two words' }`
  expect(texts(source, 'src/rl/a.ts')).toEqual(['Begins with', 'The hash of the model.'])
})

test('every text of the page has a translation, and every translation its text', () => {
  const advice = 'run npm run texts, and translate what it left empty in src/ui/language/zh'
  expect(compare(readPage(), readCatalogues()), advice).toEqual({
    unlisted: [],
    unused: [],
    broken: [],
    missing: [],
  })
})
