// Keeps the catalogues of translations: which texts the page has, in which catalogue each lies, and
// what is missing.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { posix } from 'node:path'
import { importsBelow } from '../imports.mjs'
import { numbered } from './alternatives.mjs'
import { textsIn } from './read_texts.mjs'

const FOLDER = 'src/ui/language/zh'

/** Where texts of files lie; the first rule that a file meets counts. What is thrown below the page
 * is among the errors. Those of lessons come late: what others say too is no text of theirs. */
const AREAS = [
  ['shell', /^index\.html$|^src\/(main\.tsx$|ui\/(kit|language|open|part|share|shell)\/)/],
  ['charts', /^src\/ui\/(plot|learning|scales|shown|replay)\//],
  ['form', /^src\/ui\/(settings|phases|data)\//],
  ['findings', /^src\/record\/diagnosis\/|^src\/ui\/notices\//],
  ['presets', /^src\/(document\/(presets|study)|ui\/(gallery|forest))\//],
  ['inside', /^src\/ui\/inside\//],
  ['tokens', /^src\/ui\/(tokens|look|touch)\//],
  ['runs', /^src\/(ui\/(runs|study|gpu)|page\/study)\//],
  ['settings', /^src\/(document\/experiment|rl\/(?!train|look|learners|experience|math)\w+)\//],
  ['tasks', /^src\/tasks\//],
  ['jobs', /^src\/jobs\//],
  ['glossary', /^src\/ui\/glossary\//],
  ['lessons', /^src\/(ui\/(lessons|course)|document\/course)\//],
  ['errors', /^src\//],
]
/** What is written for other systems or for models, and never shown as words of the page. */
const ELSEWHERE =
  /^src\/(kernels\/(?!device\/|policy_loss\/aggregations\/)|jobs\/(templates\/|notebooks\/(?!trl_notebook)|model_card)|tasks\/stories\/|ui\/language\/)/

/** Files that the page loads, first or later, its worker's too. */
export function pageFiles() {
  const imports = importsBelow('src')
  const found = new Set()
  const open = ['src/main.tsx']
  for (let file = open.pop(); file; file = open.pop()) {
    if (found.has(file) || !imports.has(file)) continue
    found.add(file)
    open.push(...imports.get(file))
  }
  return [...found].filter((file) => !ELSEWHERE.test(file)).sort()
}

/** Texts of data: of the lab's studies, whose names are shown as `family? (own part)`, and of their
 * arms, whose numbers are values. */
const DATA = 'src/page/study/gallery.json'
function textsOfData() {
  const found = JSON.parse(readFileSync(DATA, 'utf8')).flatMap(({ id, name, question }) => [
    ...name.split(/(?<=\?) (?=\S)/).map((part) => part.replace(/^\((.*)\)$/, '$1')),
    question,
    ...armsOf(id),
    ...expectedOf(id),
  ])
  return found.map((text) => ({ text, line: 1, isError: false, file: DATA }))
}

/** What a study expected before its runs; numbers and the studies it names are values. */
function expectedOf(id) {
  const { power = '' } = JSON.parse(readFileSync(`bench/studies/${id}.json`, 'utf8'))
  const value = /(?<=those of )\w+(?= did)|(?<= did in )\w+|\d+(?:\.\d+)?/g
  return power === '' ? [] : [numbered(power.replace(value, '$1'))]
}

/** Names of a study's arms that have words, and what several of them are called together. */
function armsOf(id) {
  const { arms } = JSON.parse(readFileSync(`bench/studies/${id}.json`, 'utf8'))
  return arms
    .map(({ name }) => numbered(name.replace(/\b\d[\d.]*/g, '$1')))
    .filter((name) => /[a-z]{3}/.test(name) && !name.includes('_'))
    .flatMap((name) => [...new Set([name, name.replace(/\blayer (\{0\})/, 'layers $1')])])
}

/** What runs of the presets showed, sentence by sentence; numbers and lists of them are values. */
const SEEN = 'src/document/presets/presets_seen.json'
function textsOfSeen() {
  const number = String.raw`[−-]?\d[\d.,]*(?:e-?\d+)?(?:–\d[\d.,]*)?`
  const list = new RegExp(
    String.raw`\((${number}(?: → ${number})+(?:, ${number} → ${number})*)\)`,
    'g',
  )
  const value = new RegExp(String.raw`(?<![\w$])${number}(?<![.,])`, 'g')
  const seen = Object.values(JSON.parse(readFileSync(SEEN, 'utf8')))
  const sentences = seen
    .flatMap(({ what_you_should_see }) => what_you_should_see.split(/(?<=[.!?])\s+(?=\S)/))
    .map((text) => text.replace(list, '($$1)').replace(value, '$$1'))
  // `3 runs, seeds 1, 2, 3, on llvmpipe`: the page says the adapter by itself.
  const runs = seen
    .filter(({ measured }) => measured !== '')
    .map(({ measured }) => measured.replace(/^\d+ (runs?, seeds?) .*, on .*$/, '$$1 $1 $$1'))
  return [...sentences, ...runs].map((text) => ({
    text: numbered(text),
    line: 1,
    isError: false,
    file: SEEN,
  }))
}

/** The name of the page's window. */
function textsOfWindow() {
  const [, text] = /<title>(.*)<\/title>/.exec(readFileSync('index.html', 'utf8'))
  return [{ text, line: 1, isError: false, file: 'index.html' }]
}

const areaOf = (file, isError) =>
  isError && !/^src\/(ui|jobs)\//.test(file)
    ? 'errors'
    : AREAS.find(([, rule]) => rule.test(file))[0]

/** Every text of the page, in the catalogue where it lies: area → text → the places that show it.
 * A text that several areas have lies in the first. */
export function readPage() {
  const sources = pageFiles().flatMap((file) =>
    textsIn(file, readFileSync(file, 'utf8')).map((text) => ({ ...text, file })),
  )
  const all = [...sources, ...textsOfWindow(), ...textsOfData(), ...textsOfSeen()]
  const areas = new Map(AREAS.map(([area]) => [area, new Map()]))
  const home = new Map()
  for (const [area] of AREAS)
    for (const { text, line, isError, file } of all) {
      if (areaOf(file, isError) !== area) continue
      const own = home.get(text) ?? areas.get(area)
      home.set(text, own)
      own.set(text, [...(own.get(text) ?? []), `${file}:${line}`])
    }
  return areas
}

const pathOf = (area) => posix.join(FOLDER, `${area}.json`)

/** The catalogues as they are: area → text → translation, '' where there is none yet. */
export function readCatalogues() {
  if (!existsSync(FOLDER)) return new Map()
  return new Map(
    readdirSync(FOLDER)
      .filter((name) => name.endsWith('.json'))
      .map((name) => [
        name.slice(0, -'.json'.length),
        JSON.parse(readFileSync(posix.join(FOLDER, name), 'utf8')),
      ]),
  )
}

/** Holes of a text, sorted. */
const holesOf = (text) => (text.match(/\{\d+\}/g) ?? []).sort().join()

/** What is wrong with the catalogues: texts without an entry, entries without a text, translations
 * that lose or invent a hole, and those that are missing, each as 'area: text'. */
export function compare(page, catalogues) {
  const found = { unlisted: [], unused: [], broken: [], missing: [] }
  for (const [area, texts] of page) {
    const entries = catalogues.get(area) ?? {}
    for (const text of texts.keys())
      if (!Object.hasOwn(entries, text)) found.unlisted.push(`${area}: ${text}`)
  }
  for (const [area, entries] of catalogues)
    for (const [text, translation] of Object.entries(entries)) {
      if (!page.get(area)?.has(text)) found.unused.push(`${area}: ${text}`)
      if (translation === '') found.missing.push(`${area}: ${text}`)
      else if (holesOf(text) !== holesOf(translation)) found.broken.push(`${area}: ${text}`)
    }
  return found
}

/** Writes the catalogues anew: texts in the order of the page, translations kept wherever they
 * were, '' for what has none. */
export function writeCatalogues(page, catalogues) {
  const known = new Map([...catalogues.values()].flatMap((entries) => Object.entries(entries)))
  mkdirSync(FOLDER, { recursive: true })
  for (const [area, texts] of page) {
    const entries = Object.fromEntries(
      [...texts.keys()].map((text) => [text, known.get(text) ?? '']),
    )
    writeFileSync(pathOf(area), `${JSON.stringify(entries, null, 2)}\n`)
  }
}
