// Saves what a study leaves, file by file or all in one folder.
import { studyFiles } from '../../document/study/report/files.ts'
import { runsOf } from '../../page/study/kept_studies.ts'
import { saidQuestion } from '../../page/study/recorded.ts'
import { analysisOf, type StudyState } from '../../page/study/study_state.ts'
import { fileSlug } from '../../record/files/file_names.ts'
import { nearBaseSentence } from '../../record/run/base_words.ts'
import { saveFile } from '../kit/save.ts'
import { t } from '../kit/translator.ts'
import { zipOf } from '../kit/zip.ts'

/** This page without what it shows. */
export const pageAddress = (): string => location.href.replace(/[?#].*$/s, '')

/** Report, tables, pictures, the study itself and its runs, by the names of their files. */
export function filesOfStudy(
  state: Pick<StudyState, 'study' | 'arms' | 'results' | 'changes'>,
  address = pageAddress(),
): ReadonlyMap<string, string> {
  const { study, arms, results, changes } = state
  const analysed = analysisOf(state)
  if (!analysed || !study) return new Map()
  const compared = { ...analysed.study, question: saidQuestion(analysed.study.question) }
  return new Map([
    ...studyFiles(compared, analysed.analysis, changes, study, {
      begins: nearBaseSentence(study, arms),
      address,
      say: t,
    }),
    ['study.json', `${JSON.stringify(study, undefined, 1)}\n`],
    [
      'results.jsonl',
      runsOf(study, results)
        .map((result) => `${JSON.stringify(result)}\n`)
        .join(''),
    ],
  ])
}

export const saveText = (name: string, text: string) =>
  saveFile(name, new Blob([text], { type: name.endsWith('.svg') ? 'image/svg+xml' : 'text/plain' }))

/** A .zip in which the report finds its pictures beside it. */
export async function saveStudyFolder(state: StudyState): Promise<void> {
  const folder = fileSlug(state.study?.name ?? '') || 'study'
  const files = [...filesOfStudy(state)].map(([path, text]) => ({
    path,
    pieces: [new TextEncoder().encode(text)],
  }))
  saveFile(`${folder}.zip`, await zipOf(folder, files))
}
