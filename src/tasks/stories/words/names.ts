// Names of characters, with the pronoun that each takes. The first are the most common.
import { listed } from './listed.ts'

/** Characters who are called she. */
export const SHE = listed(`
  Mia Lily Anna Ruby Nora Ella Rosie Luna Daisy Molly Zoe Ivy Hazel Clara Poppy Emma Lucy Nina Sara Bella
  Willow Tess Maya Edith Alma Fern Greta Holly Iris Jane Kitty Lola Mabel Nelly Olive Penny Queenie Rita Stella Tilly
  Una Vera Wanda Yara Ada Betty Cora Dora Elsa Flora Gwen Heidi Ida Judy Kate Lena Mina Nancy Opal Pearl
  Robin Sally Thea Ursa Viola Wendy Xenia Yvonne Zelda Amber Bonnie Coco Dinah Esme Fanny Gina Hattie Ines Jill Kira
  Leah Minnie Nell Odette Peggy Rhea Sadie Tina Uma Velma Winnie Yoko Zara Agnes Beth Celia Della Effie Freya Gloria
  Hanna Ilsa Jenny Klara Lotte Marta Netta Olga Paula Roxy Suki Trudy Unity Vicky Wilma Yasmin Zuri Amelie Brenda Carmen`)

/** Characters who are called he. */
export const HE = listed(`
  Tom Ben Max Sam Leo Finn Jack Tim Theo Oscar Hugo Milo Otto Pip Felix Noah Jasper Rusty Toby Gus
  Alfie Bruno Casper Dexter Eddie Frank George Harry Igor Jonas Karl Louis Monty Ned Oliver Peter Quentin Rufus Simon Teddy
  Ulf Victor Walter Yann Zack Archie Barney Clive Duncan Ernie Fergus Gilbert Henry Ivan Jerome Kurt Lenny Mungo Nico Orson
  Percy Ralph Sid Tucker Umar Vince Wilbur Yuri Ziggy Amos Basil Cedric Dougal Elmer Floyd Gordon Hector Ike Joel Kenny
  Lars Marvin Norman Ollie Patrick Roland Stanley Trevor Ulric Vernon Warren Yusuf Zeno Albert Boris Conrad Desmond Emil Fred Grover
  Herbert Isaac Jamie Kip Linus Mac Nigel Odin Pablo Remy Seth Tyler Udo Vasco Wesley York Zane Anton Bert Colin`)
