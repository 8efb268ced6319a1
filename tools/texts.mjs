// Brings the catalogues of translations up to date with the texts of the page. Run: npm run texts
//   npm run texts                    adds new texts, drops those that are gone, counts the missing
//   npm run texts -- --places DIR    also writes where each text stands, for translators
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { compare, readCatalogues, readPage, writeCatalogues } from './texts/catalogues.mjs'

const { values } = parseArgs({ options: { places: { type: 'string' } } })
const page = readPage()
writeCatalogues(page, readCatalogues())
const catalogues = readCatalogues()
const { broken } = compare(page, catalogues)
for (const [area, entries] of catalogues) {
  const texts = Object.entries(entries)
  const missing = texts.filter(([, translation]) => translation === '').length
  const letters = texts.reduce((sum, [text]) => sum + text.length, 0)
  console.log(`${area}: ${texts.length} texts of ${letters} letters, ${missing} not translated`)
}
for (const text of broken) console.log(`other holes than its text: ${text}`)
if (values.places !== undefined) {
  mkdirSync(values.places, { recursive: true })
  for (const [area, texts] of page) {
    const lines = [...texts].map(([text, places]) => `${places[0]}  ${text}`)
    writeFileSync(join(values.places, `${area}.txt`), `${lines.join('\n')}\n`)
  }
}
