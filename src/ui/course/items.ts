// Names and opens the items of a course.
import type { CourseItem } from '../../document/course/course.ts'
import { lessonOf } from '../lessons/lessons.ts'
import { openLesson } from '../open/open_lesson.ts'
import { itemPage } from './pages.ts'

export const itemTitle = (item: CourseItem): string =>
  item.kind === 'lesson' ? (lessonOf(item.lesson)?.title ?? item.lesson) : item.title

export const openItem = (item: CourseItem, index: number): void =>
  openLesson(item.kind === 'lesson' ? item.lesson : itemPage(index))
