export const COMMAND: string;
export const folder: string;
export function mistakes(): string[];
