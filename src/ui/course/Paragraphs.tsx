// Draws a teacher's text: an empty line begins a new paragraph. It is never read as markup.

export function Paragraphs({ text }: { readonly text: string }) {
  return text
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== '')
    .map((paragraph, i) => (
      <p key={i} className="course-text">
        {paragraph}
      </p>
    ))
}
