// Lists names of characters, with the pronoun that each takes. The first are the most common.
import { listed } from './listed.ts'

/** Characters who are called she. */
export const SHE = listed(`
  Mia Lily Anna Ruby Nora Ella Rosie Luna Daisy Molly Zoe Ivy Hazel Clara Poppy Emma Lucy Nina Sara Bella
  Willow Tess Maya Edith Alma Fern Greta Holly Iris Jane Kitty Lola Mabel Nelly Olive Penny Queenie Rita Stella Tilly
  Una Vera Wanda Yara Ada Betty Cora Dora Elsa Flora Gwen Heidi Ida Judy Kate Lena Mina Nancy Opal Pearl
  Robin Sally Thea Ursa Viola Wendy Xenia Yvonne Zelda Amber Bonnie Coco Dinah Esme Fanny Gina Hattie Ines Jill Kira
  Leah Minnie Nell Odette Peggy Rhea Sadie Tina Uma Velma Winnie Yoko Zara Agnes Beth Celia Della Effie Freya Gloria
  Hanna Ilsa Jenny Klara Lotte Marta Netta Olga Paula Roxy Suki Trudy Unity Vicky Wilma Yasmin Zuri Amelie Brenda Carmen
Abby Adele Alice Anika Annie April Astrid Aurora Ava Bea Bianca Birgit Blanche Bridget Camilla Carla Cathy Chloe Cindy Claudia
  Cleo Connie Daria Delia Denise Diana Dolly Edna Eileen Elena Elise Eloise Elvira Emily Erika Estelle Eva Evelyn Faith Felicity
  Fiona Frida Gemma Gerda Gilda Golda Grace Gretel Gudrun Hedda Helen Henrietta Hilda Hope Imogen Inga Irma Isabel Jade Jana
  Jasmine Joan Josie Joy Julia June Karin Katya Kim Laura Lavinia Lea Leonie Lilian Linda Lisa Liv Liza Lorna Louise
  Lydia Madge Malin Margot Maria Marlene Martha Matilda Maud Meg Melody Milena Mira Mona Myrtle Nadia Naomi Natalie Nadine Noemi`)

/** Characters who are called he. */
export const HE = listed(`
  Tom Ben Max Sam Leo Finn Jack Tim Theo Oscar Hugo Milo Otto Pip Felix Noah Jasper Rusty Toby Gus
  Alfie Bruno Casper Dexter Eddie Frank George Harry Igor Jonas Karl Louis Monty Ned Oliver Peter Quentin Rufus Simon Teddy
  Ulf Victor Walter Yann Zack Archie Barney Clive Duncan Ernie Fergus Gilbert Henry Ivan Jerome Kurt Lenny Mungo Nico Orson
  Percy Ralph Sid Tucker Umar Vince Wilbur Yuri Ziggy Amos Basil Cedric Dougal Elmer Floyd Gordon Hector Ike Joel Kenny
  Lars Marvin Norman Ollie Patrick Roland Stanley Trevor Ulric Vernon Warren Yusuf Zeno Albert Boris Conrad Desmond Emil Fred Grover
  Herbert Isaac Jamie Kip Linus Mac Nigel Odin Pablo Remy Seth Tyler Udo Vasco Wesley York Zane Anton Bert Colin
Aaron Abel Adam Ajax Alan Alec Ambrose Andy Angus Arlo Arne Arthur Axel Barnaby Basti Bill Bjorn Bob Brian Burt
  Carlo Chester Chip Clem Cliff Cosmo Curtis Damian Dan Darius David Denny Derek Dirk Dominic Douglas Drew Dylan Edgar Edmund
  Edwin Eli Elias Elliot Enzo Eric Ethan Evan Ezra Fabian Felipe Ferdinand Fabio Flynn Franz Gabriel Gareth Gary Geoffrey Gideon
  Giles Glen Graham Greg Gustav Hans Harold Harvey Heinz Horace Howard Hubert Humphrey Ian Ignaz Ingo Jacob Jake Jan Jarvis
  Jim Joe Johan Jon Josef Julian Justin Keith Kevin Klaus Knut Leif Leon Leopold Levi Lionel Lorenz Luca Luke Magnus`)
