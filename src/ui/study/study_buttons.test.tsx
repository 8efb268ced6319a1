// What a study offers to do, and what it costs.
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test, vi } from 'vitest'
import { decodeStudy } from '../../document/study/study_link.ts'
import { studyOf } from '../../document/study/testing.ts'
import { initialState, labStore } from '../../page/state/store.ts'
import gallery from '../../page/study/gallery.json' with { type: 'json' }
import { EMPTY } from '../../page/study/study_state.ts'
import { StudyButtons } from './StudyButtons.tsx'

const study = studyOf()
const drawn = (more: Partial<Parameters<typeof StudyButtons>[0]>, is_training = false) =>
  renderToStaticMarkup(
    <StudyButtons
      state={{ ...EMPTY, study, is_training }}
      study={study}
      missing={6}
      known={2}
      time={{ seconds: 190, isMeasured: false }}
      change={{ canChange: true, isOpen: false, toggle: () => {} }}
      {...more}
    />,
  ).replaceAll(/<[^>]*>/g, ' ')

test('the time of the runs stands beside the button that trains them, until it was pressed', () => {
  expect(drawn({})).toMatch(/Train 6 runs\s+about 3 min on this machine/)
  expect(drawn({}, true)).not.toContain('on this machine')
  expect(drawn({ time: undefined })).not.toContain('on this machine')
  expect(drawn({ missing: 0 })).not.toMatch(/Train|on this machine/)
})

test('a study of one’s own can be changed as a whole, and one of the lab in a copy', () => {
  expect(drawn({})).toContain('Change …')
  const [entry] = gallery
  const lab = decodeStudy(entry.study)
  if (!lab.ok) throw new Error(entry.id)
  const recorded = { adapter: '', fingerprints: [] }
  const own = { study: lab.study, state: { ...EMPTY, study: lab.study, recorded } }
  expect(drawn(own)).not.toContain('Change …')
  expect(drawn(own)).toContain('Make a copy to change')
})

test('without a GPU its runs are not offered, and it says why', () => {
  const error = { name: 'GpuError', code: 'no_webgpu', message: '' } as const
  vi.spyOn(labStore, 'getInitialState').mockReturnValue({ ...initialState(), error })
  expect(drawn({})).toContain('This needs a GPU')
  expect(drawn({})).not.toContain('on this machine')
  vi.restoreAllMocks()
  expect(drawn({})).not.toContain('This needs a GPU')
})
