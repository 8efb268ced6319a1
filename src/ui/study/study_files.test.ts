import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { expandStudy } from '../../document/study/arms.ts'
import { decodeStudy } from '../../document/study/study_link.ts'
import gallery from '../../page/study/gallery.json' with { type: 'json' }
import { resultLines } from '../../page/study/study_file.ts'
import { translateWith } from '../kit/translator.ts'
import { allTexts } from '../language/testing.ts'
import { filesOfStudy } from './study_files.ts'

const texts = allTexts()
beforeEach(() =>
  translateWith({
    locale: 'zh-CN',
    text: (english) => texts.translate(english),
    props: (_, props) => props,
  }),
)
afterEach(() => translateWith(undefined))

/** What a person saves of one of the lab's own studies, with the runs that it recorded. */
function savedOf({ id, study: text }: (typeof gallery)[number]) {
  const decoded = decodeStudy(text)
  if (!decoded.ok) throw new Error(id)
  const { study } = decoded
  const expanded = expandStudy(study)
  if (!expanded.ok) throw new Error(id)
  const { results } = resultLines(readFileSync(`docs/studies/${id}/results.jsonl`, 'utf8'))
  return filesOfStudy({ study, arms: expanded.arms, results, changes: [] }, 'https://a.b/')
}

/** Lines with words of English; addresses, files and names of metrics are not in any language. */
const englishOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.replace(/\]\([^)]*\)/g, ']').replace(/<[^>]*>|[\w@]+\/[\w@/]+/g, ' '))
    .filter((line) =>
      /\b(?:an|are|in|is|of|on|steps|seeds|the|with|than|part|arm|mean)\b/.test(line),
    )

for (const entry of gallery)
  test(`the report of ${entry.id} is in the page’s language, its pictures too`, () => {
    const files = savedOf(entry)
    const drawn = [...files].filter(([name]) => name.endsWith('.svg') || name === 'report.md')
    const left = drawn.flatMap(([name, text]) => englishOf(text).map((line) => `${name}: ${line}`))
    expect(left).toEqual([])
  })
