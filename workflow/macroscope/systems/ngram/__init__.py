"""N-gram language models over words: unsmoothed (meister2021 eq. 16) and Kneser-Ney."""
