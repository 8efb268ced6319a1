// Tests that the panel of lessons offers each way once.
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Course } from '../../document/course/course.ts'

const course = {
  title: 'A week',
  by: '',
  says: '',
  in_order: false,
  items: [{ kind: 'lesson', lesson: 'entropy' }],
} as unknown as Course

beforeEach(() => vi.stubGlobal('location', { hash: '', search: '', pathname: '/' }))
afterEach(() => vi.unstubAllGlobals())

test('there is one way to hand in, with a course and without one', async () => {
  const [{ Lists }, { courseStore }] = await Promise.all([
    import('./Lists.tsx'),
    import('./course_store.ts'),
  ])
  // Static markup shows what a store began with.
  vi.spyOn(courseStore, 'getInitialState').mockImplementation(courseStore.getState)
  const ways = () => renderToStaticMarkup(<Lists />).match(/Hand in …/g)
  courseStore.setState({ course: undefined, problem: undefined })
  expect(ways()).toHaveLength(1)
  courseStore.setState({ course })
  expect(ways()).toHaveLength(1)
})
