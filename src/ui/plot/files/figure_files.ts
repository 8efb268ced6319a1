// Writes the files of a figure: its numbers, and what is seen of it.
import { shownRunWords } from '../../open/shown_run.ts'
import { uiStore } from '../../shown/store.ts'
import type { Key } from '../base/Keys.tsx'
import { type FigureContent, figurePng, figureSvg } from './figure_picture.ts'
import { type NumberTable, tableCsv, tableJsonl } from './number_table.ts'
import type { Makers, Owner } from './SaveAs.tsx'

interface FigureFiles {
  readonly title: string
  readonly table: () => NumberTable
  /** The run that the page shows, where not given. */
  readonly owner?: Owner | undefined
  /** Named below the picture. */
  readonly keys?: readonly Key[] | undefined
}

export function figureMakers({ title, table, owner, keys }: FigureFiles): Makers {
  const content = (): FigureContent => ({
    title,
    run: owner?.words ?? shownRunWords(),
    isDark: uiStore.getState().isDark,
    ...(keys ? { keys } : {}),
  })
  const picture = <T>(button: HTMLElement, make: (of: HTMLElement, to: FigureContent) => T) => {
    const of = button.closest<HTMLElement>('.figure-body, .still-figure')
    return of ? make(of, content()) : undefined
  }
  return {
    csv: () => tableCsv(table()),
    jsonl: () => tableJsonl(table()),
    png: (button) => picture(button, figurePng),
    svg: (button) => picture(button, figureSvg),
  }
}
