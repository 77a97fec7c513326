/** A text as YAML has it wherever a value may stand: in single quotes, nothing else is special. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
