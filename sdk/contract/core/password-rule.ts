/** What a new password must be, as people are told before they type one (`server/access/password.ts` judges it). */
export const passwordRule = "8 to 128 characters, with a lower-case letter, an upper-case letter and a digit";
