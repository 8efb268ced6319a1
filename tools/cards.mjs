// npm run cards -- LINK: writes the benchmark card of a link as a JSON file in bench/cards and
// draws docs/performance.md's table of all of them; without a link it draws the table again.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installMissing, loadVite, ROOT } from '../scripts/project.mjs'
import { cardTable, fileName, withTable } from './card_table.mjs'

const FOLDER = join(ROOT, 'bench/cards')
const DOCUMENT = join(ROOT, 'docs/performance.md')

const [link] = process.argv.slice(2)
if (link !== undefined) await keep(link)
const files = existsSync(FOLDER) ? readdirSync(FOLDER).filter((name) => name.endsWith('.json')) : []
const cards = files.sort().map((name) => JSON.parse(readFileSync(join(FOLDER, name), 'utf8')))
writeFileSync(DOCUMENT, withTable(readFileSync(DOCUMENT, 'utf8'), cardTable(cards)))
console.log(`${cards.length} cards in docs/performance.md`)

/** Writes the link's card. One that is not written as ours are ends the command. */
async function keep(link) {
  await installMissing()
  const { runnerImport } = await loadVite()
  const quiet = { configFile: false, logLevel: 'error' }
  const { module } = await runnerImport(join(ROOT, 'src/host/protocol/card.ts'), quiet)
  const { card, notices } = module.decodeCard(link.slice(link.indexOf('#')))
  if (!card) {
    console.error(notices[0] ?? 'cards: expected a link with #card=1&…')
    process.exit(1)
  }
  mkdirSync(FOLDER, { recursive: true })
  const file = join(FOLDER, fileName(card))
  writeFileSync(file, `${JSON.stringify(card, undefined, 2)}\n`)
  console.log(`Wrote ${file}`)
}
