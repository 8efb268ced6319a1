// Draws the pictures of a study, by the names of their files.
import type { Say } from '../../../formats/text_tables.ts'
import type { Analysis } from '../analysis.ts'
import type { Study } from '../study.ts'
import { forestPlot } from './forest.ts'
import { heatMap } from './heat.ts'
import {
  curveLines,
  linesPicture,
  type PictureLines,
  placeLines,
  profileLines,
  proxyLines,
} from './lines.ts'

/** `say`: the language of what they say; English where it is absent. */
export function studyPictures(
  study: Study,
  analysis: Analysis,
  say: Say = String,
): Map<string, string> {
  const pictures = new Map<string, string>()
  const add = (name: string, svg: string | undefined) => {
    if (svg !== undefined) pictures.set(name, svg)
  }
  const drawn = ({ title, unit, lines, ...rest }: PictureLines, height?: number) => {
    const named = lines.map((line) => ({ ...line, name: say(line.name) }))
    return linesPicture({ ...rest, title: say(title), unit: say(unit), lines: named }, height)
  }
  const profiles = profileLines(analysis)
  if (analysis.arms.length > 1) add('forest.svg', forestPlot(analysis, say))
  add('curves.svg', drawn(curveLines(study, analysis)))
  const proxy = proxyLines(study, analysis)
  add('proxy.svg', proxy && drawn(proxy))
  add('profiles.svg', profiles && drawn(profiles, 320))
  add('heat.svg', heatMap(study, analysis, say))
  for (const which of ['layers', 'blocks', 'teacher'] as const) {
    const lines = placeLines(study, analysis, which)
    add(`${which}.svg`, lines && drawn(lines, 340))
  }
  return pictures
}
